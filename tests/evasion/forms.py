"""All forms, in the order of the page."""

from __future__ import annotations

from evasion import mechanisms, others, reads, sends, spellings, twins
from evasion.form import Form, Group

FORMS: tuple[Form, ...] = (
    *spellings.FORMS,
    *mechanisms.FORMS,
    *others.FORMS,
    *reads.FORMS,
    *sends.FORMS,
    *mechanisms.PREVENTED,
    *twins.FORMS,
)


def of_group(group: Group) -> tuple[Form, ...]:
    """The forms of one group."""
    return tuple(form for form in FORMS if form.group == group)
