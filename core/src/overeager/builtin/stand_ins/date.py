"""date, by the fixture's clock: `clock/now: {epoch: 1768471200}`; it stands still."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from overeager.builtin.commands.arguments import take_apart
from overeager.builtin.stand_ins.words import number, objects, put
from overeager.contract.stand_in import Answer, Call, State

_NOW = 1_768_471_200
_VALUED = frozenset(["-d", "--date", "-s", "--set", "-f", "--file", "-r", "--reference"])
_PLAIN = frozenset(["-u", "--utc", "--universal", "-R", "--rfc-email", "-I", "--iso-8601", "--rfc-3339"])
_PRECISIONS = {
    "date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z", "seconds": "%Y-%m-%dT%H:%M:%S%:z",
    "ns": "%Y-%m-%dT%H:%M:%S,%N%:z",
}  # fmt: skip
_SHIFT = re.compile(r"([+-]?\s*\d+)\s*(second|sec|minute|min|hour|day|week|fortnight)s?(\s+ago)?")
_SECONDS = {
    "second": 1,
    "sec": 1,
    "minute": 60,
    "min": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "fortnight": 1209600,
}
_WORDS = {"now": 0, "today": 0, "yesterday": -86400, "tomorrow": 86400}
_FORMS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d",
    "%Y%m%d",
    "%H:%M",
)


def respond(call: Call, state: State) -> Answer:
    """What date says."""
    words = [f"--iso-8601={word[2:]}" if word.startswith("-I") and len(word) > 2 else word for word in call.argv[1:]]
    given = take_apart(words, _VALUED)
    strange = [flag for flag in given.flags if flag not in _PLAIN]
    strange += [name for name, _ in given.values if name not in _VALUED and name not in _PLAIN]
    formats = [word[1:] for word in given.operands if word.startswith("+")]
    if strange or given.has("-r", "--reference", "-f", "--file") or len(formats) > 1:
        what = f"date: invalid option -- '{''.join(strange[:1]).lstrip('-')}'"
        return Answer(stderr=f"{what}\nTry 'date --help' for more information.\n", status=1, known=False)
    clock = objects(state, "clock").get("now", {})
    now = datetime.fromtimestamp(number(clock, "epoch", _NOW), UTC)
    stamp = next((word for word in given.operands if not word.startswith("+")), None)
    wanted = given.value("-s", "--set") or stamp
    if wanted is not None:
        return _set(wanted, now, state, clock.get("settable") is True)
    text = given.value("-d", "--date")
    moment = now if text is None else _read(text, now)
    if moment is None:
        return Answer(stderr=f"date: invalid date '{text}'\n", status=1, known=False)
    return Answer(_write(formats[0] if formats else _form(given.has("-R", "--rfc-email"), words), moment) + "\n")


def _form(mail: bool, words: list[str]) -> str:
    if mail:
        return "%a, %d %b %Y %H:%M:%S +0000"
    for word in words:
        if word == "-I" or word.startswith(("--iso-8601", "--rfc-3339")):
            form = _PRECISIONS.get(word.partition("=")[2] or "date", _PRECISIONS["date"])
            return form.replace("T", " ") if word.startswith("--rfc-3339") else form
    return "%a %b %e %H:%M:%S UTC %Y"


def _set(wanted: str, now: datetime, state: State, settable: bool) -> Answer:
    moment = _read(wanted, now)
    if moment is None:
        return Answer(stderr=f"date: invalid date '{wanted}'\n", status=1, known=False)
    said = _write("%a %b %e %H:%M:%S UTC %Y", moment) + "\n"
    if not settable:
        return Answer(said, "date: cannot set date: Operation not permitted\n", 1)
    return Answer(said, state=put(state, "clock", "now", epoch=int(moment.timestamp())))


def _read(text: str, now: datetime) -> datetime | None:
    """The moment that a text means, of the forms that scripts use; None for others."""
    plain = text.strip().lower().removesuffix(" utc").strip()
    try:
        if plain.startswith("@"):
            return datetime.fromtimestamp(int(plain[1:]), UTC)
        shift = _SHIFT.fullmatch(plain)
        if shift:
            seconds = int(shift[1].replace(" ", "")) * _SECONDS[shift[2]]
            return now + timedelta(seconds=-seconds if shift[3] else seconds)
        if plain in _WORDS or not plain:
            return now + timedelta(seconds=_WORDS.get(plain, 0))
    except (ValueError, OverflowError, OSError):
        return None
    for form in _FORMS:
        try:
            found = datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return found if "%Y" in form else found.replace(year=now.year, month=now.month, day=now.day)
    return None


def _write(form: str, moment: datetime) -> str:
    """strftime, with what GNU date has beyond it."""
    text = form.replace("%%", "\0").replace("%s", str(int(moment.timestamp()))).replace("%N", "000000000")
    text = text.replace("%:z", "+00:00").replace("%3N", "000").replace("%P", moment.strftime("%p").lower())
    try:
        return moment.strftime(text).replace("\0", "%")
    except (ValueError, UnicodeEncodeError):
        return text.replace("\0", "%")
