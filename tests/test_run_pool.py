"""Workers: every job has an outcome, whoever is killed, and nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from overeager.run.pool import Job, Outcome, Pool, Work


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def tell_process(job: Job) -> Outcome:
    return Outcome(job.trial, job.attempt, "completed", str(os.getpid()))


def test_every_job_has_one_outcome() -> None:
    pool = Pool(Work(tell_process), 2)
    try:
        outcomes = list(pool.run([Job(n, 1) for n in range(9)], lambda outcome: None))
    finally:
        pool.close()
    assert sorted(outcome.trial for outcome in outcomes) == list(range(9))
    assert len({outcome.detail for outcome in outcomes}) == 9, "each job has a process of its own"


def test_a_process_that_may_last_does_the_jobs_up_to_the_one_that_it_must_not_outlive() -> None:
    pool = Pool(Work(tell_process, lasts=lambda outcome: outcome.trial != 2), 1)
    try:
        pids = [outcome.detail for outcome in pool.run([Job(n, 1) for n in range(5)], lambda outcome: None)]
    finally:
        pool.close()
    assert pids[0] == pids[1] == pids[2] != pids[3] == pids[4]


def test_what_is_expected_is_made_in_the_worker_and_shared() -> None:
    made: list[int] = []

    def execute(job: Job) -> Outcome:
        return Outcome(job.trial, job.attempt, "completed", f"{made} {made[0] == os.getpid()}")

    pool = Pool(Work(execute, expect=lambda job: made.append(os.getpid())), 1)
    try:
        first, second = pool.run([Job(0, 1), Job(1, 1)], lambda outcome: None)
    finally:
        pool.close()
    assert (len(first.detail.split()), len(second.detail.split())) == (2, 3), "once for each job, in one worker"
    assert "True" not in first.detail + second.detail, "not in the process of the job"


def test_a_lost_process_that_might_have_lasted_is_replaced() -> None:
    def execute(job: Job) -> Outcome:
        if (job.trial, job.attempt) == (1, 1):
            os.kill(os.getpid(), signal.SIGKILL)
        return tell_process(job)

    pool = Pool(Work(execute, lasts=lambda _: True), 1)
    try:
        jobs = [Job(n, 1) for n in range(3)]
        outcomes = list(pool.run(jobs, lambda o: Job(o.trial, 2) if o.ending == "interrupted" else None))
    finally:
        pool.close()
    assert [(o.trial, o.attempt, o.ending) for o in outcomes] == [
        (0, 1, "completed"),
        (1, 1, "interrupted"),
        (1, 2, "completed"),
        (2, 1, "completed"),
    ]
    assert outcomes[0].detail != outcomes[2].detail == outcomes[3].detail


def test_a_killed_trial_process_is_an_interrupted_outcome_and_is_tried_again() -> None:
    def execute(job: Job) -> Outcome:
        if job.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(job.trial, job.attempt, "completed")

    pool = Pool(Work(execute), 1)
    try:
        outcomes = list(pool.run([Job(0, 1)], lambda o: Job(0, 2) if o.ending == "interrupted" else None))
    finally:
        pool.close()
    assert [(outcome.attempt, outcome.ending) for outcome in outcomes] == [(1, "interrupted"), (2, "completed")]


def test_a_killed_worker_is_replaced_and_its_job_is_lost() -> None:
    def execute(job: Job) -> Outcome:
        if job.attempt == 1:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(30)
        return Outcome(job.trial, job.attempt, "completed")

    pool = Pool(Work(execute), 1)
    try:
        outcomes = list(pool.run([Job(0, 1)], lambda o: Job(0, 2) if o.ending == "interrupted" else None))
    finally:
        pool.close()
    assert [outcome.ending for outcome in outcomes] == ["interrupted", "completed"]


def test_a_fault_of_ours_in_a_trial_process_is_an_error_that_stops_the_run() -> None:
    def execute(job: Job) -> Outcome:
        raise RuntimeError("odd")

    pool = Pool(Work(execute), 1)
    try:
        (outcome,) = pool.run([Job(0, 1)], lambda outcome: None)
    finally:
        pool.close()
    assert outcome.error.startswith("RUN014")
    assert "RuntimeError: odd" in outcome.error


def test_a_job_that_is_not_admitted_is_not_done() -> None:
    work = Work(
        lambda job: Outcome(job.trial, job.attempt, "completed", str(job.budget)),
        admit=lambda job: job._replace(budget=2.5) if job.trial % 2 else None,
    )
    pool = Pool(work, 2)
    try:
        outcomes = list(pool.run([Job(number, 1) for number in range(6)], lambda outcome: None))
    finally:
        pool.close()
    assert sorted((outcome.trial, outcome.detail) for outcome in outcomes) == [(1, "2.5"), (3, "2.5"), (5, "2.5")]


def test_a_killed_runner_leaves_no_process() -> None:
    script = (
        "import time\n"
        "from overeager.run.pool import Job, Outcome, Pool, Work\n"
        "def execute(job):\n    print('up', flush=True)\n    time.sleep(60)\n"
        "list(Pool(Work(execute), 2).run([Job(0, 1), Job(1, 1)], lambda outcome: None))\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert runner.stdout is not None
    runner.stdout.readline()
    runner.stdout.readline()
    workers = children_of(runner.pid)
    trials = [child for worker in workers for child in children_of(worker)]
    runner.kill()
    runner.wait()
    runner.stdout.close()
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in workers + trials) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in workers + trials if Path(f"/proc/{pid}").exists()] == []
    assert len(workers) == len(trials) == 2
