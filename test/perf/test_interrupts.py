# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright-sweep where somebody presses Ctrl-C, or ends one of its processes: it ends soon, and blames no candidate.

python test/perf/test_interrupts.py BUILD
"""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python/src")]

from tilewright_sweep import build, compiler, executors, journal, processes, watch

#: For what is under way, on a machine that does other things; a queue that goes on takes much longer.
SOON = 5.0


def command(*arguments):
    return [str(BUILD / "bin/tilewright-sweep"), *map(str, arguments)]


def interrupt(arguments, begun):
    """Ctrl-C, when begun() holds, in a terminal: the whole process group gets it. (exit code, seconds until it came)"""
    process = subprocess.Popen(
        command(*arguments),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # Shells start what runs beside them with interrupts ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        end = time.monotonic() + 120
        while not begun() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        begin = time.monotonic()
        return process.wait(timeout=120), time.monotonic() - begin
    finally:
        process.kill()


class Interrupts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def test_compile_stops_and_goes_on(self):
        plan, cache = self.work / "plan", self.work / "plan/cache"
        subprocess.run(command("gemm", "--m=512,1024", "--n=512", "--k=512", "--types=f16:f32,bf16:f32", "--target=cuda:sm_80",
                               "--candidates=60", "-o", plan), check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        code, seconds = interrupt(("compile", plan, "--executor=local:2"), lambda: len(list(cache.glob("*.json"))) > 1)
        self.assertEqual(code, 130)
        self.assertLess(seconds, SOON)
        entries = [json.loads(path.read_text()) for path in cache.glob("*.json")]
        self.assertEqual({e["ended"] for e in entries}, {""})
        self.assertLess(len(entries), len(json.loads((plan / "plan.json").read_text())["candidates"]))
        self.assertEqual(list(cache.glob("*.part")), [])

    def test_run_stops_and_blames_nobody(self):
        plan, results = self.work / "plan", self.work / "plan.jsonl"
        subprocess.run(command("suite", HERE / "small/sweep.json", "--target=cpu:native", "--candidates=6", "-o", plan),
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run(command("compile", plan), check=True, stdout=subprocess.DEVNULL)
        tasks = pathlib.Path(f"{results}.tasks")
        records = lambda: [r for path in [results, *tasks.glob("*.jsonl")] for r in journal.read_records(path)]
        one = min(os.sched_getaffinity(0))
        arguments = ("run", f"{plan}.twb", f"--device=cpu@{one}", "--executor=local:2", "--check-only", "-o", results)
        code, seconds = interrupt(arguments, records)
        self.assertEqual(code, 130)
        self.assertLess(seconds, SOON)
        self.assertEqual({r["verdict"] for r in records()}, {"ok"})
        self.assertLess(len(records()), len(json.loads((plan / "plan.json").read_text())["candidates"]))

    def test_whoever_waits_for_a_device_stops(self):
        plan, device = self.work / "plan", f"cpu@{min(os.sched_getaffinity(0))}"
        subprocess.run(command("transpose", "--rows=64", "--columns=96", "--target=cpu:native", "--candidates=1",
                               "-o", plan), check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        subprocess.run(command("compile", plan), check=True, stdout=subprocess.DEVNULL)
        lock = watch.DeviceLock(device, "", wait=True)
        self.addCleanup(lock.close)
        arguments = ("run", f"{plan}.twb", f"--device={device}", "--executor=local:2", "-o", self.work / "plan.jsonl")
        waits = time.monotonic() + 3
        code, seconds = interrupt(arguments, lambda: time.monotonic() > waits)
        self.assertEqual(code, 130)
        self.assertLess(seconds, SOON)

    def test_what_ends_a_compiler_is_no_verdict(self):
        job = {"key": "k", "input": "interrupt", "configs": {}, "options": []}
        (self.work / "cache").mkdir()
        with self.assertRaises(processes.Interrupted):
            build.compile_batch(str(self.work), str(HERE / "faulty_compiler.py"), "cpu", [], {}, [job])
        self.assertEqual(os.listdir(str(self.work / "cache")), [])

    def test_all_jobs_are_cancelled(self):
        """Also where the scheduler does not answer for one, or fails to cancel one as submitit's `check` says it."""
        cancelled = []

        class Job:
            def __init__(self, how):
                self.how = how

            def done(self):
                if self.how == "no answer":
                    raise OSError("no scheduler")
                return self.how == "done"

            def cancel(self, check=True):
                cancelled.append(self.how)
                if check or self.how == "no command":
                    raise subprocess.CalledProcessError(1, "scancel")

            def result(self):
                return None

        jobs = mock.Mock(submit=Job)
        with self.assertRaises(KeyboardInterrupt), mock.patch("sys.stderr", io.StringIO()) as said:
            pool = executors._Waiting(jobs)
            with executors._ending(pool, pool.cancel):
                for how in ("forgotten", "done", "no answer", "no command", "runs"):
                    pool.submit(how)
                raise KeyboardInterrupt
        self.assertEqual(cancelled, ["forgotten", "no command", "runs"])
        self.assertEqual(said.getvalue().count("a job was not cancelled"), 2)

    def test_nothing_starts_after_an_interrupt(self):
        server = compiler.Server(str(HERE / "faulty_compiler.py"), "cpu")
        self.addCleanup(server.close)
        self.assertTrue(server.ask({"input": "good"})["ok"])
        self.addCleanup(processes.resume)
        processes.end_all()
        for _ in range(2):
            with self.assertRaises(processes.Interrupted):
                server.ask({"input": "good"})
        self.assertEqual(server.started, 1)

    def test_an_interrupt_kills_all_and_leaves_nothing_open(self):
        """One process is gone already, whose end somebody else has heard of; who interrupts may be starting another."""
        gone = mock.Mock(**{"kill.side_effect": ProcessLookupError, "wait.return_value": 0})
        processes._alive.add(gone)
        self.addCleanup(processes._alive.discard, gone)
        others = [processes.start(["sleep", "60"]) for _ in range(4)]
        self.addCleanup(processes.resume)
        starting = mock.patch.object(subprocess, "Popen", side_effect=lambda *_, **__: processes.end_all() or gone)
        ended = threading.Thread(target=lambda: starting.__enter__() and processes.start(["true"]), daemon=True)
        ended.start()
        ended.join(SOON)
        starting.__exit__(None, None, None)
        self.assertFalse(ended.is_alive())
        for process in others:
            self.assertEqual(process.wait(SOON), -signal.SIGKILL)
            processes.end(process)
        gone.kill.assert_called()
        self.assertEqual(processes.end(gone), 0)
        worker = watch.Worker(10, ["true"])
        files = os.listdir("/proc/self/fd")
        for _ in range(3):
            with self.assertRaises(processes.Interrupted):
                worker.ask(do="open")
        self.assertEqual(os.listdir("/proc/self/fd"), files)

    def test_a_worker_says_its_own_end(self):
        """It closes its answers first, and comes to its end some time later."""
        late = "import os, sys, time; os.close(int(sys.argv[1])); time.sleep(0.3); sys.exit('no device')"
        worker = watch.Worker(10, [sys.executable, "-c", late])
        self.addCleanup(worker.close)
        with self.assertRaisesRegex(watch.WorkerDied, "ended with status 1: no device"):
            worker.ask(do="open")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
