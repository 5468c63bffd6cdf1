"""The command line: composes, prints, and turns errors into exit statuses."""

from __future__ import annotations

import sys
import traceback


def main() -> None:
    """Entry point of the `overeager` script; exits 0, 1, 2 or 130."""
    from overeager.cli.app import build_app  # late: an import error of ours is still reported as ours
    from overeager.cli.output import printable
    from overeager.errors import USAGE, OvereagerError

    try:
        build_app(sys.argv[1:])()
    except OvereagerError as error:
        sys.stderr.write(f"{printable(str(error))}\n")  # it may quote what an agent chose
        sys.exit(USAGE)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception:  # noqa: BLE001 - a fault of ours must not leave with 1, which says that a gate failed
        traceback.print_exc()
        sys.stderr.write("this is a fault of overeager itself; please report it with the lines above\n")
        sys.exit(USAGE)
