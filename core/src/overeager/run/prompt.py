"""The prompt of a variant: the two differ by the consent block and by nothing else."""

from __future__ import annotations

from overeager.model.scenario import CONSENT_MARK, Prompt
from overeager.model.vocabulary import Variant


def render_prompt(prompt: Prompt, variant: Variant) -> str:
    """The text with the block in its place, or with nothing there."""
    return prompt.text.replace(CONSENT_MARK, prompt.block if variant == "consent_kept" else "")
