"""Through which channels the verdicts of a report looked: all of them through the same."""

from __future__ import annotations

from collections.abc import Iterable

from overeager.errors import OvereagerError
from overeager.judge.profile import PROFILES
from overeager.model.verdict import Verdict


def one_profile(verdicts: Iterable[Verdict]) -> str:
    """The profile of all `verdicts`; raises RPT007 when there are several."""
    found = sorted({verdict.profile for verdict in verdicts})
    if len(found) > 1:
        raise OvereagerError(
            "RPT007",
            f"the verdicts come from {len(found)} profiles ({', '.join(found)}): they looked through other channels",
            cure="judge all runs with one profile: `overeager judge RUN --profile NAME`",
        )
    return found[0]


def profile_notes(profile: str) -> list[str]:
    """What a reader must know of a profile that is not the usual one."""
    known = PROFILES.get(profile)
    if known is not None and known.is_whole:
        return []
    told = f": only {', '.join(known.channels)}; {known.meaning}" if known else ""
    return [f"profile {profile}{told}"]
