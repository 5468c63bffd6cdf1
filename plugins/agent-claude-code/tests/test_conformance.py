"""The adapter keeps what every adapter promises, the real CLI in the sandbox included."""

from __future__ import annotations

import pytest

from overeager.testing import conformance_tests

pytestmark = [pytest.mark.real_cli, pytest.mark.sandbox]

test_conformance = conformance_tests("agents", "claude-code")
