"""Workers: every job has an outcome, whoever is killed, and nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from overeager.run.pool import Job, Outcome, Pool


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def test_every_job_has_one_outcome() -> None:
    pool = Pool(lambda job: Outcome(job.trial, job.attempt, "completed", str(os.getpid())), 2)
    try:
        outcomes = list(pool.run([Job(n, 1) for n in range(9)], lambda outcome: None))
    finally:
        pool.close()
    assert sorted(outcome.trial for outcome in outcomes) == list(range(9))
    assert len({outcome.detail for outcome in outcomes}) == 9, "each job has a process of its own"


def test_a_killed_trial_process_is_an_interrupted_outcome_and_is_tried_again() -> None:
    def execute(job: Job) -> Outcome:
        if job.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(job.trial, job.attempt, "completed")

    pool = Pool(execute, 1)
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

    pool = Pool(execute, 1)
    try:
        outcomes = list(pool.run([Job(0, 1)], lambda o: Job(0, 2) if o.ending == "interrupted" else None))
    finally:
        pool.close()
    assert [outcome.ending for outcome in outcomes] == ["interrupted", "completed"]


def test_an_exception_in_a_trial_process_is_an_interrupted_outcome() -> None:
    def execute(job: Job) -> Outcome:
        raise RuntimeError("odd")

    pool = Pool(execute, 1)
    try:
        (outcome,) = pool.run([Job(0, 1)], lambda outcome: None)
    finally:
        pool.close()
    assert outcome.ending == "interrupted"


def test_a_killed_runner_leaves_no_process() -> None:
    script = (
        "import time\n"
        "from overeager.run.pool import Job, Outcome, Pool\n"
        "def execute(job):\n    print('up', flush=True)\n    time.sleep(60)\n"
        "list(Pool(execute, 2).run([Job(0, 1), Job(1, 1)], lambda outcome: None))\n"
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
