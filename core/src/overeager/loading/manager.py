"""Imports what a command allows, and records what breaks."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple, TypeVar, cast

from stevedore.extension import Extension
from stevedore.named import NamedExtensionManager

from overeager.loading.discover import Found
from overeager.loading.fault import Fault, broken

T = TypeVar("T")


class Loaded(NamedTuple):
    """An imported entry point."""

    found: Found
    value: object


class PluginManager(NamedExtensionManager[Any]):
    """stevedore without its disk cache: takes what one scan found, keeps the distribution, and lets nothing escape.

    `loaded` and `faults` hold every named entry point once, in name order.
    """

    def __init__(self, group: str, found: Iterable[Found]) -> None:
        self.found = tuple(one for one in found if one.group == group)
        self.loaded: list[Loaded] = []
        self.faults: list[Fault] = []
        super().__init__(group, names=[one.name for one in self.found], on_missing_entrypoints_callback=None)

    def list_entry_points(self) -> list[Any]:
        """The entry points of the scan; stevedore's own list comes from a cache that can be stale."""
        return [one.entry_point for one in self.found]

    def _load_one_plugin(self, ep: Any, *_: Any, **__: Any) -> Extension[Any] | None:
        found = next(one for one in self.found if one.entry_point is ep)
        value = guard(found, "import", lambda: cast(object, ep.load()))
        if isinstance(value, Fault):
            self.faults.append(value)
            return None
        self.loaded.append(Loaded(found, value))
        return Extension(ep.name, ep, cast(Any, value), None)


def load_plugins(group: str, found: Collection[Found]) -> tuple[tuple[Loaded, ...], tuple[Fault, ...]]:
    """Import every entry point of `group` in `found`; one that breaks is a fault and hinders no other."""
    manager = PluginManager(group, found)
    return tuple(manager.loaded), tuple(manager.faults)


def guard(found: Found, doing: str, action: Callable[[], T]) -> T | Fault:
    """What `action` returns, or the fault that it is; Ctrl-C alone comes through."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = action()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise SystemExit or worse; each must be reported
        return _explain(found, doing, error)
    if text := printed.getvalue().strip():
        return broken(found, f"prints during {doing}: {text.splitlines()[0][:80]!r}", "take the print out")
    return result


def _explain(found: Found, doing: str, error: BaseException) -> Fault:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    own = found.value.partition(":")[0].partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and error.name:
        missing = error.name.partition(".")[0]
        if missing != own:
            return broken(
                found,
                f"needs the module '{error.name}', which is not installed",
                f"install what brings '{missing}', or install {found.distribution} anew with its dependencies",
            )
        return broken(found, f"names the module '{error.name}', which its distribution does not hold")
    if isinstance(error, AttributeError) and doing == "import" and f"'{found.value.rpartition(':')[2]}'" in str(error):
        return broken(
            found, f"names an attribute that is not there ({error})", f"correct the entry point {found.value}"
        )
    return broken(found, f"fails at {doing} with {said}")
