# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a session on a borrowed GPU makes of steps that die, hang and run out of time.

    python test/perf/test_session.py
"""

import collections
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
import zipfile
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/src"))

from tilewright_sweep import cases, session


class Runner:
    """Does what tilewright-e2e does, in its place: one case a start, then it loses the device; `fatal` ones kill it."""

    def __init__(self, folder, seconds=60, fatal=()):
        self.folder, self.seconds, self.fatal = folder, seconds, fatal
        self.ran, self.lock = collections.Counter(), threading.Lock()
        self.result = folder / "e2e.jsonl"

    def tool(self, name):
        return name

    def devices(self):
        return ["cuda"]

    def do(self, command, seconds):
        _, timeout, listed, journal, device = command
        assert timeout == f"--timeout={cases.PATIENCE}" and seconds <= self.seconds
        done = cases._verdicts(journal)
        for program in json.loads(listed.read_text())["programs"]:
            for case in program["cases"]:
                if (case["name"], device) in done:
                    continue
                with self.lock:
                    self.ran[case["name"]] += 1
                verdict = "failed" if case["name"] in self.fatal else "passed"
                with journal.open("a") as file:
                    file.write(json.dumps({"case": case["name"], "device": device, "verdict": verdict, "reason": ""}) + "\n")
                return 3
        return 2 if any(r["verdict"] == "failed" for r in done.values()) else 0


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.listed = self.folder / "cases.json"
        programs = [{"artifact": f"{i}.tw", "cases": [{"name": f"{i}.{j}"} for j in range(3)]} for i in range(5)]
        self.listed.write_text(json.dumps({"programs": programs}))

    def test_every_case_once(self):
        runner = Runner(self.folder, fatal=("1.1",))
        self.assertEqual(cases.run(runner, self.listed, runner.result, processes=3), 2)
        self.assertEqual(set(runner.ran.values()), {1})
        self.assertEqual(len(runner.ran), 15)
        lines = [json.loads(x) for x in runner.result.read_text().splitlines()]
        self.assertEqual(len(lines), 15)
        self.assertEqual([x["case"] for x in lines if x["verdict"] == "failed"], ["1.1"])

    def test_goes_on_where_others_stopped(self):
        runner = Runner(self.folder)
        line = {"case": "0.0", "device": "cuda", "verdict": "passed", "reason": ""}
        runner.result.write_text(json.dumps(line) + '\n{"case": "0.1", "dev')
        self.assertEqual(cases.run(runner, self.listed, runner.result, processes=2), 0)
        self.assertNotIn("0.0", runner.ran)
        self.assertIn("0.1", runner.ran)
        self.assertEqual(len(runner.result.read_text().splitlines()), 15)

    def test_out_of_time(self):
        runner = Runner(self.folder, seconds=0)
        self.assertEqual(cases.run(runner, self.listed, runner.result, processes=2), 124)
        self.assertEqual(runner.result.read_text(), "")


def is_over(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Interrupts(unittest.TestCase):
    """Nothing that a session has started goes on without it."""

    #: Starts a step that has a child of its own, and says the pids of both.
    PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs beside them with interrupts ignored
sys.path.insert(0, sys.argv[1])
from tilewright_sweep import cases, session
made = session.Session(sys.argv[2], sys.argv[2], [], 1, sys.executable)
command = ["sh", "-c", "sleep 60 & echo $! $$ >>pids.part; mv pids.part pids; wait"]
if sys.argv[3] == "threads":
    made.tool, made.devices = (lambda name: "sh"), (lambda: [])
    do = made.do
    made.do = lambda _, seconds: do(command, seconds)
    cases.run(made, sys.argv[2] + "/cases.json", made.results / "e2e.jsonl", processes=1)
else:
    made.do(command)
"""

    def interrupted(self, how, kind):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "cases.json").write_text(json.dumps({"programs": [{"cases": []}]}))
            pids, end = pathlib.Path(folder, "pids"), time.monotonic() + 60
            started = subprocess.Popen([sys.executable, "-c", self.PROGRAM, str(ROOT / "python/src"), folder, kind],
                                       stderr=subprocess.DEVNULL)
            while not pids.exists() and time.monotonic() < end:
                time.sleep(0.01)
            child, step = pids.read_text().split()
            started.send_signal(how)
            started.wait(timeout=30)
            while not is_over(step) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertTrue(is_over(step))
            return child, end

    def test_interrupt_ends_all(self):
        for kind in ("step", "threads"):
            child, end = self.interrupted(signal.SIGINT, kind)
            while not is_over(child) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertTrue(is_over(child), kind)

    def test_kill_ends_the_step(self):
        child, _ = self.interrupted(signal.SIGKILL, "step")
        os.kill(int(child), signal.SIGKILL)  # its own child is beyond reach


class Unpacking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def session(self, **files):
        path = self.folder / "on-gpu.twb"
        with zipfile.ZipFile(str(path), "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return path

    def test_a_newer_session_keeps_nothing(self):
        there = self.folder / "on-gpu"
        session.unpack(self.session(old="1", both="1"), there)
        (there / "built").mkdir()
        session.unpack(self.folder / "on-gpu.twb", there)
        self.assertTrue((there / "built").exists())
        session.unpack(self.session(both="2"), there)
        self.assertEqual(sorted(os.listdir(str(there))), [".unpacked", "both"])
        self.assertEqual((there / "both").read_text(), "2")

    def test_results_within_stay(self):
        there = session.unpack(self.session(**{"old": "1", "bench/run.py": "1"}), self.folder / "on-gpu")
        for name in ("results/e2e.jsonl", "bench/mine", "bench/__pycache__/run.pyc", "build/CMakeCache.txt"):
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (there / name).write_text("mine")
        (there / "linked").symlink_to("results")
        session.unpack(self.session(**{"bench/run.py": "2"}), there)
        files = [path for path in there.glob("**/*") if path.is_symlink() or path.is_file()]
        files = sorted(str(path.relative_to(there)) for path in files)
        self.assertEqual(files, [".unpacked", "bench/mine", "bench/run.py", "linked", "results/e2e.jsonl"])
        self.assertEqual((there / "results/e2e.jsonl").read_text(), "mine")
        self.assertEqual(sorted(os.listdir(str(self.folder))), ["on-gpu", "on-gpu.twb"])
        for name in ("results", "bench/mine", "bench/mine/more"):
            path = self.session(**{name: "3"})
            with self.assertRaisesRegex(session.SessionError, "is in the way, and no session"):
                session.unpack(path, there)
        (there / ".unpacked").write_text("a hash alone")
        with self.assertRaisesRegex(session.SessionError, "does not say what of it was unpacked"):
            session.unpack(path, there)
        self.assertEqual((there / "bench/mine").read_text(), "mine")
        self.assertEqual(sorted(os.listdir(str(self.folder))), ["on-gpu", "on-gpu.twb"])

    def test_one_that_breaks_off_leaves_what_was(self):
        there = session.unpack(self.session(both="1"), self.folder / "on-gpu")
        with mock.patch.object(os, "chmod", side_effect=OSError("full")), self.assertRaises(OSError):
            session.unpack(self.session(both="2"), there)
        self.assertEqual(sorted(os.listdir(str(self.folder))), ["on-gpu", "on-gpu.twb"])
        self.assertEqual((there / "both").read_text(), "1")

    def test_what_is_no_session_stays(self):
        (self.folder / "on-gpu").mkdir()
        (self.folder / "on-gpu/mine").write_text("1")
        with self.assertRaisesRegex(session.SessionError, "on-gpu is in the way"):
            session.unpack(self.session(both="1"), self.folder / "on-gpu")
        self.assertEqual((self.folder / "on-gpu/mine").read_text(), "1")


class Steps(unittest.TestCase):
    def session(self, codes):
        """One whose commands end with these codes."""
        made, codes = session.Session.__new__(session.Session), iter(codes)
        made.seconds, made.asked = 60, []
        made.do = lambda command, seconds: made.asked.append(command) or next(codes)
        return made

    def test_starts_again_what_lost_the_device_or_crashed(self):
        made = self.session([3, -11, 3, 2, 0])
        self.assertEqual(made.again(["x"]), 2)
        self.assertEqual(len(made.asked), 4)

    def test_ends_with_what_ran_out_of_time(self):
        made = self.session([124, 0])
        self.assertEqual(made.again(["x"]), 124)

    def test_minutes_of_a_step(self):
        self.assertEqual(session._parse("ladder=2.5", 8), ("ladder", 150))
        self.assertEqual(session._parse("cts", 8), ("cts", 480))
        for wrong, words in (("climb", "no step 'climb'"), ("cts=", "minutes of a step"), ("cts=0", "'cts=0'"), ("cts=inf", "'cts=inf'")):
            with self.assertRaisesRegex(session.SessionError, words):
                session._parse(wrong, 8)


if __name__ == "__main__":
    unittest.main()
