from __future__ import annotations

import pytest

from overeager.audit.shim.coverage import Call, Seen, match, probe_calls, probe_script, short_probe_calls

pytestmark = pytest.mark.pure


def test_calls_with_a_record_each_leave_the_channel_present() -> None:
    calls = [Call("1", "rm", ("rm", "x")), Call("2", "git")]
    found = match(calls, [Seen("git", ("git", "status"), 2.0), Seen("rm", ("/bin/rm", "x"), 1.0)])
    assert (found.health.state, found.health.reason, found.gaps, found.unmatched) == ("present", "", (), ())


def test_a_proved_call_without_a_record_truncates_the_channel_and_is_named() -> None:
    found = match([Call("toolu_7", "rm", ("rm", "x"))], [])
    assert found.health == ("truncated", "calls without a record: rm (toolu_7)")


def test_an_unproved_call_without_a_record_is_only_unmatched() -> None:
    call = Call("1", "rm", proved=False)
    found = match([call], [])
    assert (found.health.state, found.unmatched) == ("present", (call,))


def test_one_record_serves_one_call_only() -> None:
    assert len(match([Call("1", "rm"), Call("2", "rm")], [Seen("rm", ("rm",), 0.0)]).gaps) == 1


def test_a_record_of_other_arguments_does_not_serve() -> None:
    assert match([Call("1", "git", ("git", "push"))], [Seen("git", ("git", "rev-parse"), 0.0)]).gaps != ()


def test_a_record_of_another_command_does_not_serve() -> None:
    assert match([Call("1", "rm", ("rm", "x"))], [Seen("cat", ("cat", "x"), 0.0)]).gaps != ()


def test_the_agents_own_calls_outside_the_window_do_not_serve() -> None:
    call = Call("1", "git", since=10.0, until=11.0)
    assert match([call], [Seen("git", ("git",), 3.0)]).gaps == (call,)
    assert match([call], [Seen("git", ("git",), 10.5)]).gaps == ()


def test_a_recorder_without_a_clock_fits_every_window() -> None:
    assert match([Call("1", "rm", since=1.0, until=2.0)], [Seen("rm", ("rm",), None)]).gaps == ()


def test_a_call_that_is_known_literally_is_served_before_one_that_is_not() -> None:
    calls = [Call("1", "rm"), Call("2", "rm", ("rm", "x"))]
    assert match(calls, [Seen("rm", ("rm", "x"), 0.0), Seen("rm", ("rm", "y"), 1.0)]).gaps == ()


def test_the_window_that_closes_first_is_served_first() -> None:
    calls = [Call("1", "rm", until=9.0), Call("2", "rm", until=2.0)]
    assert match(calls, [Seen("rm", (), 1.0), Seen("rm", (), 5.0)]).gaps == ()


def test_the_probe_calls_each_command_in_each_form_and_scripts_by_name_only() -> None:
    calls = probe_calls(["rm", "npm"], scripts=["npm"])
    assert [call.tool_call for call in calls if call.command == "npm"] == ["sh -c", "bash -c", "bash -lc"]
    forms = ["sh -c", "bash -c", "bash -lc", "env -i", "absolute path"]
    assert [call.tool_call for call in calls if call.command == "rm"] == forms
    assert len({call.argv for call in calls}) == len(calls)


def test_the_probe_without_bash_leaves_out_its_forms() -> None:
    assert {call.tool_call for call in probe_calls(["rm"], bash=False)} == {"sh -c", "env -i", "absolute path"}


def test_the_short_probe_is_one_call() -> None:
    assert probe_script(short_probe_calls(["cat", "git"])).count("--version") == 1
    assert short_probe_calls([]) == ()
