# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tilewright-sweep: end to end on cpu and ptxsim, and what goes wrong on the way.

python test/perf/test_sweep.py BUILD
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python/src")]

from tilewright_sweep import best, build, bundle, compiler, journal, plan, problems, run, runtime, values, watch


def sweep(*arguments, cwd=None):
    done = subprocess.run(
        [str(BUILD / "bin/tilewright-sweep"), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def counted(path):
    return collections.Counter(r["verdict"] for r in journal.read_records(path))


#: So often a tuned program may be measured again that seems slower than the default: machines do other things.
REPEATS = 5


def slower_every_time(measure, work):
    """{problem: ratios} of the tuned programs that were slower than the default, beyond the spread of alternating pairs in
    three processes, in each of REPEATS runs. `measure(results, name)` measures a problem, "": all, into a new journal."""
    ratios, names = {}, [""]
    for repeat in range(REPEATS):
        slower = []
        for number, name in enumerate(names):
            results = work / f"held-{repeat}-{number}.jsonl"
            measure(results, name)
            tuned = {r["problem"]["name"]: r for r in journal.read_records(results) if r["config"] == "tuned"}
            # Another problem's name may begin with this one's.
            for other, record in tuned.items():
                if not repeat or other == name:
                    ratios.setdefault(other, []).append(record["ratio"])
                    slower += [other] * (best.standing(record) == "slower")
        names = slower
    return {name: ratios[name] for name in names}


def hold(case, work, plan, database, device):
    """A database against the defaults, on a device: each problem is right, and none is slower."""
    sweep("confirm", plan, f"--tuning={database}", "-o", work / "confirm")
    sweep("compile", work / "confirm")

    def measure(results, name):
        sweep("run", work / "confirm.twb", f"--device={device}", "--no-cold", f"--match={name}", "-o", results)

    case.assertEqual(slower_every_time(measure, work), {}, "the tuned programs are slower than the defaults")
    records = journal.read_records(work / "held-0-0.jsonl")
    case.assertEqual({r["verdict"] for r in records}, {"ok"})
    planned = {p["name"] for p in json.loads((plan / "plan.json").read_text())["problems"]}
    case.assertEqual({r["problem"]["name"] for r in records if r["config"] == "tuned"}, planned)


class OnCpu(unittest.TestCase):
    """A small suite on this machine's processor, from the plan to a database that is held against the defaults."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        sweep("suite", HERE / "small/sweep.json", "--target=cpu:native", "--candidates=6", "-o", cls.work / "plan")
        sweep("compile", cls.work / "plan")
        cls.bundle, cls.results = cls.work / "plan.twb", cls.work / "plan.jsonl"
        sweep("run", cls.bundle, "--device=cpu", "--no-cold")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def records(self):
        return journal.read_records(self.results)

    def test_every_candidate_has_one_record(self):
        made = json.loads((self.work / "plan/plan.json").read_text())
        self.assertEqual(sorted(c["id"] for c in made["candidates"]), sorted(r["candidate"] for r in self.records()))
        self.assertEqual(counted(self.results), {"ok": len(made["candidates"])})

    def test_records_say_what_was_measured(self):
        for record in self.records():
            self.assertGreater(record["median_s"], 0)
            self.assertGreaterEqual(record["count"], 5)
            self.assertGreater(record["bytes_per_s"], 0)
            self.assertEqual(record["check"], "the reference program")
            self.assertTrue(
                record["config"] == "default" or record["config"].startswith("#tilewright.lowering_config<")
            )
            for member in ("host", "driver", "version", "compiler", "time", "artifact", "target", "spread", "ratio"):
                self.assertTrue(record[member] is not None, member)

    def test_database_is_held_against_the_defaults(self):
        sweep("best", self.results, "-o", self.work / "tuning.json")
        hold(self, self.work, self.work / "plan", self.work / "tuning.json", "cpu")

    def test_a_database_that_is_slower_does_not_hold(self):
        """The default takes 0.8 of what the tuned one takes; and half of it, in the first of all processes."""
        opened = self.some("softmax_f32_128x256")
        default, tuned = opened.plan["candidates"]
        tuned["config"] = "tuned"
        folder = self.work / "slower"
        folder.mkdir()
        for lucky, fast, what in (("none", default["id"], ["softmax_f32_128x256"]), (default["id"], "none", [])):
            fake = [sys.executable, str(HERE / "lucky_measure.py"), lucky, fast, str(folder / "first")]

            def measure(results, name, fake=fake):
                self.assertEqual(run.run_bundle(opened, "cpu", results, match=name, command=fake, cold=False), 0)

            found = slower_every_time(measure, folder)
            self.assertEqual(list(found), what)
            self.assertTrue(all(len(ratios) == REPEATS for ratios in found.values()))
            for path in folder.iterdir():
                path.unlink()

    def test_compiler_takes_the_record(self):
        record = max((r for r in self.records() if r["kernel"]), key=lambda r: r["candidate"])
        database = self.work / "one.json"
        best.write_database(
            database,
            [
                {
                    "target": record["program"],
                    "chip": "",
                    "problem": record["tuning"]["problem"],
                    "shape": record["tuning"]["shape"],
                    "config": record["config"],
                }
            ],
        )
        program = self.work / "plan/problems" / f"{record['problem']['name']}.mlir"
        done = subprocess.run(
            [
                str(BUILD / "bin/tilewright-compile"),
                str(program),
                "--target=cpu:native",
                "--explain",
                f"--tuning={database}",
                "-o",
                str(self.work / "one.tw"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn(f"config (tuned, record 0, of this shape): {record['config']}", done.stderr)

    def test_goes_on_without_losing_or_doubling(self):
        results, made = self.work / "killed.jsonl", json.loads((self.work / "plan/plan.json").read_text())
        command = [
            str(BUILD / "bin/tilewright-sweep"),
            "run",
            str(self.bundle),
            "--device=cpu",
            "--check-only",
            "-o",
            str(results),
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(journal.read_records(results)) < 5:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = journal.read_records(results)
        with results.open("a") as file:
            file.write('{"candidate": "cut off')
        while subprocess.run(command, capture_output=True, check=False).returncode == 1:
            time.sleep(0.1)  # the process that measured may still hold the device
        after = journal.read_records(results)
        self.assertEqual(after[: len(before)], before)
        self.assertEqual(sorted(c["id"] for c in made["candidates"]), sorted(r["candidate"] for r in after))

    def test_a_run_with_empty_caches_becomes_a_database_and_a_page(self):
        results, name = self.work / "cold.jsonl", self.records()[0]["problem"]["name"]
        sweep("run", self.bundle, "--device=cpu", f"--match={name}", "-o", results)
        final = [r for r in journal.read_records(results) if r.get("final")]
        self.assertTrue([r for r in final if r.get("cold_median_s")])
        for record in final:
            self.assertGreater(record["baseline_min_s"], 0)
        sweep("best", results, "-o", self.work / "cold.json")
        sweep("report", results, "-o", self.work / "cold-report")

    def test_budget_ends_in_time_and_goes_on(self):
        results = self.work / "budget.jsonl"
        command = [
            str(BUILD / "bin/tilewright-sweep"),
            "run",
            str(self.bundle),
            "--device=cpu",
            "--no-cold",
            "-o",
            str(results),
        ]
        done = subprocess.run([*command, "--budget=0.01s"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("run again to go on", done.stdout)

    def test_bad_candidates_are_records_and_the_rest_goes_on(self):
        """One that is wrong, one that crashes, one that hangs."""
        opened = bundle.Bundle(self.bundle)
        self.addCleanup(opened.close)
        name = "softmax_f32_128x256"
        first, *others = [c for c in opened.plan["candidates"] if c["problem"] == name]
        opened.plan["problems"] = [p for p in opened.plan["problems"] if p["name"] == name]
        opened.plan["candidates"], opened.plan["ceilings"] = [first, *others], []
        wrong = self.work / "wrong.mlir"
        wrong.write_text((self.work / "plan/problems" / f"{name}.mlir").read_text().replace("math.exp", "math.absf"))
        others[0]["artifact"] = "wrong"
        subprocess.run(
            [
                str(BUILD / "bin/tilewright-compile"),
                str(wrong),
                "--target=cpu:native",
                "-o",
                str(opened.folder / "artifacts/wrong.tw"),
            ],
            check=True,
        )
        faulty = [sys.executable, str(HERE / "faulty_measure.py"), others[1]["id"], others[2]["id"]]
        results = self.work / "bad.jsonl"
        code = run.run_bundle(opened, "cpu", results, command=faulty, timeout=3, cold=False)
        self.assertEqual(code, 2)
        verdicts = {r["candidate"]: (r["verdict"], r.get("error", "")) for r in journal.read_records(results)}
        self.assertEqual(len(verdicts), 1 + len(others))
        self.assertEqual(verdicts[others[0]["id"]][0], "mismatch")
        self.assertRegex(
            verdicts[others[0]["id"]][1], "result 0: [0-9]+ elements differ; element 0 is .*, not .*, off by more than"
        )
        self.assertEqual(verdicts[others[1]["id"]], ("crash", "ended by signal 11"))
        self.assertEqual(verdicts[others[2]["id"]], ("timeout", "no sign of life for 3 s"))
        for c in [first, *others[3:]]:
            self.assertEqual(verdicts[c["id"]][0], "ok")
        # A run that finds them on record has nothing to do, and they are as wrong as they were.
        before = results.read_text()
        self.assertEqual(run.run_bundle(opened, "cpu", results, command=faulty, timeout=3, cold=False), 2)
        self.assertEqual(results.read_text(), before)
        self.assertEqual(run.run_bundle(opened, "cpu", results, match=name, command=faulty, cold=False), 2)
        with self.assertRaisesRegex(ValueError, "--match=zzz: no problem of the bundle"):
            run.run_bundle(opened, "cpu", results, match="zzz", command=faulty)

    def some(self, *names, candidates=2):
        """The bundle with these problems alone, and a few candidates of each."""
        opened = bundle.Bundle(self.bundle)
        self.addCleanup(opened.close)
        made = opened.plan["candidates"]
        opened.plan["problems"] = [p for p in opened.plan["problems"] if p["name"] in names]
        opened.plan["candidates"] = [c for n in names for c in [c for c in made if c["problem"] == n][:candidates]]
        opened.plan["ceilings"] = []
        return opened

    def test_a_default_that_hangs_costs_its_own_problem(self):
        """It is right, and hangs when it is timed."""
        names = [p["name"] for p in json.loads((self.work / "plan/plan.json").read_text())["problems"]][:2]
        opened, results = self.some(*names), self.work / "default.jsonl"
        first = opened.plan["candidates"][0]
        faulty = [sys.executable, str(HERE / "faulty_measure.py"), "none", first["id"]]
        self.assertEqual(run.run_bundle(opened, "cpu", results, command=faulty, timeout=2, cold=False), 2)
        got = [(r["problem"]["name"], r["verdict"]) for r in journal.read_records(results)]
        self.assertEqual(got, [(names[0], "timeout"), (names[0], "error"), (names[1], "ok"), (names[1], "ok")])
        again = journal.read_records(results)[1]["error"]
        self.assertEqual(again, "the default, which they are held against: no sign of life for 2 s")

    def test_a_device_that_dies_at_no_candidate_is_not_the_defaults_fault(self):
        """Its process dies before it checks or times the first; then it does not open again behind one that crashed."""
        name = "softmax_f32_128x256"
        opened, mark = self.some(name), self.work / "died"
        first, other = opened.plan["candidates"]
        for request in ("problem", "time"):
            early = [sys.executable, str(HERE / "dying_measure.py"), request, "none", str(mark)]
            results = self.work / f"died-{request}.jsonl"
            self.assertEqual(run.run_bundle(opened, "cpu", results, command=early, cold=False), 0)
            self.assertTrue(mark.exists())
            self.assertEqual(counted(results), {"ok": 2})
            mark.unlink()
        results = self.work / "died-open.jsonl"
        late = [sys.executable, str(HERE / "dying_measure.py"), "open", other["id"], str(mark)]
        with self.assertRaisesRegex(run.NotOpened, "cpu could not be opened: ended with status 3"):
            run.run_bundle(opened, "cpu", results, command=late, cold=False)
        found = [(r["candidate"], r["verdict"]) for r in journal.read_records(results)]
        self.assertEqual(found, [(other["id"], "crash")])
        # Another run, on a device that is well, goes on.
        self.assertEqual(run.run_bundle(opened, "cpu", results, cold=False), 2)
        self.assertEqual({r["candidate"]: r["verdict"] for r in journal.read_records(results)},
                         {first["id"]: "ok", other["id"]: "crash"})

    def test_what_was_checked_alone_is_timed(self):
        name = "softmax_f32_128x256"
        opened, results = self.some(name), self.work / "checked.jsonl"
        for _ in range(2):
            self.assertEqual(run.run_bundle(opened, "cpu", results, check_only=True), 0)
        self.assertEqual(len(journal.read_records(results)), 2)
        for _ in range(2):
            self.assertEqual(run.run_bundle(opened, "cpu", results, cold=False), 0)
        self.assertEqual(len(journal.read_records(results)), 4)
        timed = journal.read_results([results])
        self.assertEqual([r["candidate"] for r in timed], [c["id"] for c in opened.plan["candidates"]])
        self.assertTrue(all(r["median_s"] and r["final"] for r in timed))

    def test_a_difference_shows_in_every_process(self):
        """One candidate is twice as fast in the first process alone, one somewhat faster in all of them."""
        opened = bundle.Bundle(self.bundle)
        self.addCleanup(opened.close)
        name = "softmax_f32_128x256"
        first, lucky, fast, *_ = [c for c in opened.plan["candidates"] if c["problem"] == name]
        opened.plan["problems"] = [p for p in opened.plan["problems"] if p["name"] == name]
        opened.plan["candidates"], opened.plan["ceilings"] = [first, lucky, fast], []
        fake = [sys.executable, str(HERE / "lucky_measure.py"), lucky["id"], fast["id"], str(self.work / "lucky")]
        results = self.work / "lucky.jsonl"
        self.assertEqual(run.run_bundle(opened, "cpu", results, command=fake, cold=False), 0)
        records = {r["candidate"]: r for r in journal.read_records(results)}
        self.assertEqual(records[lucky["id"]]["processes"], [2, 1, 1])
        self.assertEqual(best.standing(records[lucky["id"]]), "equal")
        self.assertEqual(records[fast["id"]]["processes"], [1.25] * 3)
        self.assertNotIn("processes", records[first["id"]])
        self.assertEqual([r["config"] for r in best.best_records(records.values())], [fast["config"]])

    def test_one_task_at_a_time(self):
        lock = watch.DeviceLock("a device of this test", "")
        with self.assertRaisesRegex(RuntimeError, "is being measured by another task"):
            watch.DeviceLock("a device of this test", "")
        lock.close()
        watch.DeviceLock("a device of this test", "").close()

    def test_simulators_are_nobodys(self):
        """Each process has its own: nobody waits for another's."""
        held = [watch.DeviceLock(name, "tilewright/ptxsim") for name in ("ptxsim", "ptxsim:0", "ptxsim@sm_90", "ptxsim")]
        for lock in held:
            lock.close()

    def test_merge(self):
        lines = self.results.read_text().splitlines(True)
        (self.work / "a.jsonl").write_text("".join(lines[:7]))
        (self.work / "b.jsonl").write_text("".join(lines[4:]))
        sweep("merge", self.work / "a.jsonl", self.work / "b.jsonl", "-o", self.work / "ab.jsonl")
        self.assertEqual(journal.read_records(self.work / "ab.jsonl"), self.records())

    def test_report(self):
        sweep("report", self.results, "-o", self.work / "report", "--before", self.results)
        page = (self.work / "report/index.html").read_text()
        for name in {r["problem"]["name"] for r in self.records()}:
            self.assertIn(name, page)
        self.assertNotIn("http://", page.replace("http://www.w3.org", ""))
        self.assertNotIn("<script src", page)


class OnVulkan(unittest.TestCase):
    """The same commands on a GPU's driver, which may be one that computes on the processor."""

    def test_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            sweep("transpose", "--rows=64", "--columns=96", "--target=vulkan", "--candidates=2", "-o", work / "plan")
            sweep("compile", work / "plan")
            said = sweep("run", work / "plan.twb", "--device=vulkan", "--no-cold")
            self.assertIn("transpose_f32_64x96: default ", said)
            verdicts = counted(work / "plan.jsonl")
            # The default, and the other config of the one program that the device runs.
            self.assertEqual(verdicts.pop("ok"), 2)
            self.assertEqual(set(verdicts), {"not for this device"})
            sweep("best", work / "plan.jsonl", "-o", work / "tuning.json")

    def test_database_is_held_against_the_defaults(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            made = sweep("gemm", "--m=64", "--n=64", "--k=96", "--types=f32", "--target=vulkan", "--candidates=4", "-o", work / "plan")
            self.assertIn("1 problems", made)
            sweep("compile", work / "plan")
            sweep("run", work / "plan.twb", "--device=vulkan", "--no-cold")
            sweep("best", work / "plan.jsonl", "-o", work / "tuning.json")
            hold(self, work, work / "plan", work / "tuning.json", "vulkan")


class Nothing(unittest.TestCase):
    """A typing error costs no database."""

    def test_best_of_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            database, empty = pathlib.Path(folder) / "tuning.json", pathlib.Path(folder) / "empty.jsonl"
            database.write_text("what was measured")
            empty.write_text("")
            for command in ("best", "merge", "report"):
                with self.assertRaisesRegex(RuntimeError, "typo.jsonl"):
                    sweep(command, database.with_name("typo.jsonl"), "-o", database)
            with self.assertRaisesRegex(RuntimeError, "empty.jsonl: no results of a sweep"):
                sweep("best", empty, "-o", database)
            self.assertEqual(database.read_text(), "what was measured")

    def test_merge_keeps_what_says_most(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            where = {"artifact": "a", "device": "cpu", "uuid": "", "driver": "d", "problem": {"name": "p"}}
            checked = {"candidate": "1", **where, "verdict": "ok"}
            failed = {"candidate": "2", **where, "verdict": "crash"}
            timed = {**checked, "median_s": 2.0, "final": False}
            final = {**timed, "final": True}
            other = {"suite": "gemm", "problem": {"function": "f"}, "peers": {}}
            files = []
            for number, lines in enumerate(([checked, other], [timed], [failed, final, other], [timed, checked])):
                files.append(work / f"{number}.jsonl")
                files[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.assertEqual(best.merge(files, work / "all.jsonl"), ("results", 3))
            self.assertEqual(journal.read_records(work / "all.jsonl"), [final, other, failed])
            best.merge(files[2:], files[0])
            self.assertEqual(journal.read_results([files[0]]), [final, other, failed])
            # Once wrong is wrong, whichever comes first.
            wrong = {**checked, "verdict": "mismatch"}
            files[3].write_text("".join(json.dumps(line) + "\n" for line in (final, wrong, final)))
            self.assertEqual(journal.read_results([files[3]]), [wrong])
            best.merge([files[3], files[2]], files[1])
            best.merge([files[2], files[3]], files[0])
            for path in files[:2]:
                self.assertEqual([r for r in journal.read_results([path]) if r.get("candidate") == "1"], [wrong])

    def test_merge_of_what_is_neither(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.json"
            path.write_text("{}")
            with self.assertRaisesRegex(RuntimeError, "x.json is neither a tuning database nor a file of results"):
                sweep("merge", path, "-o", path.with_name("out"))
            self.assertFalse(path.with_name("out").exists())
            for text in ('{\n "a": 1\n}\n', '{"a": 1,\n"b": 2}', '{"a": 1}\n{"problem', "text\n", "[1,\n"):
                path.write_text(text)
                with self.assertRaisesRegex(ValueError, "x.json is neither", msg=text):
                    journal.read_results([path])

    def test_merge_of_what_was_cut_off(self):
        """In its first record, as the process or the machine ended: nothing is known yet."""
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            record = {"suite": "gemm", "problem": {"function": "f"}, "peers": {}}
            (work / "whole").write_text(json.dumps(record) + "\n")
            for text in ("", "\n", "{", '{"suite": "ge', '{"suite": "ge\n', '{"su\n{"suite": "gemm", "problem": {'):
                (work / "cut").write_text(text)
                self.assertEqual(best.merge([work / "whole", work / "cut"], work / "all"), ("results", 1), text)
            with self.assertRaisesRegex(RuntimeError, "cut: no results of a sweep are there"):
                sweep("best", work / "cut", "-o", work / "tuning.json")

    def test_files_are_written_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link = pathlib.Path(folder) / "a", pathlib.Path(folder) / "b"
            path.write_text("before")
            link.symlink_to(path)
            with mock.patch.object(os, "replace", side_effect=OSError("full")), self.assertRaises(OSError):
                build.write_whole(path, b"after")
            self.assertEqual((path.read_text(), sorted(os.listdir(folder))), ("before", ["a", "b"]))
            with self.assertRaises(FileNotFoundError) as raised:
                build.write_whole(path.with_name("missing") / "a", b"after")
            self.assertEqual(raised.exception.filename, str(path.with_name("missing") / "a"))
            build.write_whole(link, b"after")
            self.assertTrue(link.is_symlink() and path.read_text() == "after")

    @unittest.skipIf(os.getuid(), "only root makes a file of another user's")
    def test_lock_of_another_user(self):
        """Linux refuses to create, in a folder of everybody's, what another user has made."""
        lock = watch.DeviceLock("another device of this test", "")
        path = pathlib.Path(f"/proc/self/fd/{lock.files[0]}").resolve()
        lock.close()
        self.addCleanup(path.unlink)
        self.assertEqual(path.stat().st_mode & 0o777, 0o666)
        os.chown(str(path), 12345, 12345)
        opened = os.open
        with mock.patch.object(os, "open") as spied:
            spied.side_effect = opened
            watch.DeviceLock("another device of this test", "").close()
        self.assertEqual([call.args[1] & os.O_CREAT for call in spied.call_args_list], [0])


class OnSimulator(unittest.TestCase):
    """A bundle by itself, with no more than Python beside it: correctness alone."""

    def test_bundle(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            sweep(
                "gemm",
                "--m=33",
                "--n=24",
                "--k=32",
                "--types=f16:f32,i8:i32",
                "--target=cuda:sm_80",
                "--candidates=3",
                "-o",
                work / "plan",
                "--space",
            )
            sweep("compile", work / "plan", "--shard=1/2")
            sweep("compile", work / "plan", "--shard=2/2")
            sweep("compile", work / "plan", "-o", work / "alone.twb")
            again = (work / "alone.twb").read_bytes()
            sweep("compile", work / "plan", "-o", work / "alone.twb")
            self.assertEqual((work / "alone.twb").read_bytes(), again)
            with zipfile.ZipFile(str(work / "alone.twb")) as archive:
                travelled = {name.split("/")[-1] for name in archive.namelist() if name.startswith("runtime/needs/")}
            self.assertEqual(travelled, {path.name for path in bundle.needed_by(BUILD / "lib/libtilewright.so")})
            (work / "there").mkdir()
            shutil.move(str(work / "alone.twb"), str(work / "there/alone.twb"))
            shutil.rmtree(str(work / "plan"))
            environment = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME")}
            for shard in ("1/2", "2/2"):
                done = subprocess.run(
                    [
                        "/usr/bin/python3",
                        "-I",
                        "alone.twb",
                        "run",
                        "--device=ptxsim",
                        "--check-only",
                        f"--shard={shard}",
                    ],
                    cwd=str(work / "there"),
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(counted(work / "there/alone.jsonl"), {"ok": 6})


class EveryKind(unittest.TestCase):
    """Each op with all of its choices, static and with its open dims: what is generated compiles, and is right."""

    def check(self, target, device):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "plan"
            sweep("suite", HERE / "kinds/sweep.json", f"--target={target}", "--candidates=1", "-o", made)
            sweep("compile", made)
            sweep("run", f"{made}.twb", f"--device={device}", "--check-only")
            records = journal.read_records(f"{made}.jsonl")
            self.assertEqual({r["check"] for r in records}, {"the reference program"})
            self.assertEqual(len(records), len(problems.read_suite(HERE / "kinds/sweep.json")))

    def test_on_cpu(self):
        self.check("cpu:native", "cpu")

    def test_on_ptxsim(self):
        self.check("cuda:sm_80", "ptxsim")

    def test_of_every_choice(self):
        found = problems.read_suite(HERE / "kinds/sweep.json")
        for (op, choice), known in problems.CHOICES.items():
            said = {p[choice] for p in found if p["op"] == op}
            # Layouts of both operands are made letter by letter.
            self.assertTrue(said >= set(known) or (op, choice) == ("gemm", "layout"), (op, choice, set(known) - said))
        steps = {step for p in found for step in p.get("epilogue", "none").split("+")}
        self.assertEqual(set(problems.contractions.EPILOGUES) - steps, set())

    def test_inputs_of_a_range(self):
        """Of places and lengths, which the reference is asked for, too."""
        got = values.numbers(values.make_input("400xi32=int:3:6", 1, False), "i32")
        self.assertEqual(set(got), {3, 4, 5, 6})
        self.assertEqual(values.parse_type("8x4xi64=int:0:1"), ((8, 4), "i64"))
        for bad in ("8xi32=int:3", "8xi32=int:4:3", "8xf32=int:0:1"):
            with self.assertRaisesRegex(ValueError, "a range of inputs is int:LEAST:LARGEST"):
                values.make_input(bad, 1, True)
        lengths = [p for p in problems.read_suite(ROOT / "perf/suites/attention") if "lengths" in p["name"]]
        self.assertTrue(lengths)
        self.assertEqual({p["inputs"][-1] for p in lengths}, {"8xi32=int:1024:4096"})


class Binding(unittest.TestCase):
    def test_structures_are_those_of_the_header(self):
        header = re.sub(r"/\*.*?\*/", "", (ROOT / "gpu-runtime/include/tilewright/tilewright.h").read_text(), flags=re.S)
        for structure, name in ((runtime._DeviceInfo, "device_info"), (runtime._ProgramOptions, "program_options"),
                                (runtime._Work, "work"), (runtime._Signature, "signature"), (runtime._Type, "type"),
                                (runtime._Value, "value")):
            body = re.search(rf"typedef struct tilewright_{name} {{(.*?)}} tilewright_{name};", header, re.S)
            self.assertIsNotNone(body, name)
            fields = re.findall(r"(\w+)\s*;", re.sub(r"union {.*?} (\w+);", r"\1;", body[1], flags=re.S))
            self.assertEqual([field for field, *_ in structure._fields_], fields, name)


class Parts(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual(problems.parse_sizes("64,128:1024:*2,7:9:+1"), [64, 128, 256, 512, 1024, 7, 8, 9])
        for bad in ("", "x", "1:2", "1:8:*1"):
            with self.assertRaises(problems.ProblemError):
                problems.parse_sizes(bad)

    def test_budgets(self):
        for text, seconds in (("90", 90), ("90s", 90), ("1.5m", 90), ("2h", 7200), ("0", 0)):
            self.assertEqual(run.parse_duration(text), seconds)
        for text in ("nan", "-5s", "", "5d", "-inf"):
            with self.assertRaisesRegex(ValueError, "a time is 90, 90s"):
                run.parse_duration(text)

    def test_errors_say_what_is_expected(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments, words in (
                (("compile", f"{folder}/none"), "none is no folder of a plan: it has no plan.json"),
                (("predict", __file__, "--chip=h100", "--grid=a"), "--grid=a: expected one to three positive numbers"),
                (("predict", __file__, "--chip=h100", "--block=1,2,3,4"), "--block=1,2,3,4: expected one to three"),
            ):
                with self.assertRaisesRegex(RuntimeError, words):
                    sweep(*arguments)

    def test_suites_are_read(self):
        for folder in (ROOT / "perf/suites").iterdir():
            if folder.is_dir():
                self.assertTrue(problems.read_suite(folder), folder)

    def test_sweeps_have_every_op(self):
        found = {path.stem: problems.read_suite(path) for path in (ROOT / "perf/sweeps").glob("*.json")}
        every = [problem for made in found.values() for problem in made]
        self.assertEqual({p["op"] for p in every}, set(problems.OPS))
        self.assertEqual(len({p["name"] for p in every}), len(every))
        for of, made in found.items():
            self.assertTrue(any(p["dynamic"] for p in made), of)

    def test_bad_entries(self):
        for entry, why in (
            ({"op": "gem"}, "no op 'gem'"),
            ({"op": "gemm", "m": 1, "n": 1}, "gemm needs 'k'"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "layout": "ab"}, "no layout 'ab'; there are nn, nt"),
            ({"op": "softmax", "rows": 1, "columns": 1, "m": 4}, "softmax has no 'm'"),
            ({"op": "gemm", "m": 0, "n": 1, "k": 1}, "nothing to measure where 'm' is 0"),
            ({"op": "attention", "heads": 4, "kv_heads": 3, "queries": 8, "depth": 64}, "4 heads are no multiple of 3"),
            ({"op": "attention", "heads": 4, "queries": 8, "depth": 64, "dynamic": "depth"}, "no dim 'depth' that"),
            ({"op": "attention", "heads": 4, "queries": 8, "depth": 64, "mask": "left"}, "no mask 'left'; there are none, causal"),
            ({"op": "quantized", "m": 1, "n": 8, "k": 80}, "k is a multiple of group"),
            ({"op": "quantized", "m": 1, "n": 8, "k": 64, "weights": "i2"}, "no weights 'i2'; there are i4, i8"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "epilogue": "swish"}, "no epilogue 'swish'; its steps.* are bias, .*, quantize"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "epilogue": "narrow+relu"}, "narrow or quantize is the last step"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "types": "i8:i32", "epilogue": "gelu"}, "of sums of i32 there are bias"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "types": "f32", "epilogue": "narrow"}, "f32 is not narrower than f32"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "types": "f12"}, "no type 'f12'; there are f64"),
            ({"op": "gemm", "m": 1, "n": 1, "k": 1, "dynamic": "batch"}, "'batch' is open, but 0"),
            ({"op": "conv2d", "h": 2, "w": 8, "c": 4, "f": 4}, "a window of 3x3 is larger than the image; 'pad'"),
            ({"op": "conv2d", "h": 8, "w": 8, "c": 4, "f": 4, "dynamic": "c"}, "no dim 'c' that.*; there are n, h, w"),
            ({"op": "groupnorm", "c": 8, "pixels": 4}, "8 channels are no multiple of 32 groups"),
            ({"op": "reduce", "rows": 8, "columns": 8, "kind": "median"}, "no kind 'median'; there are sum, .*program of your own"),
            ({"op": "reduce", "rows": 8, "columns": 8, "kind": "lse", "types": "i32"}, "types are f64, f32, f16, bf16, not i32"),
            ({"op": "reduce", "rows": 8, "columns": 8, "types": "f16:f32"}, "elementwise with kind cast converts"),
            ({"op": "reduce", "rows": 8, "columns": 8, "kind": "variance", "dynamic": "columns"}, "'columns', which a variance"),
            ({"op": "transpose", "rows": 8, "columns": 8, "order": "rr"}, "order 'rr' has not each of r, c once"),
            ({"op": "attention", "heads": 4, "queries": 8, "depth": 64, "page": 4}, "say how many by 'batch', 1 for one"),
            ({"op": "attention", "batch": 1, "heads": 4, "queries": 8, "depth": 64, "page": 3}, "8 keys are no multiple of a page"),
            ({"op": "attention", "batch": 1, "heads": 4, "queries": 8, "depth": 64, "page": 4, "dynamic": "keys"}, "are not open"),
        ):
            with self.assertRaisesRegex(problems.ProblemError, why):
                problems.make_problem(entry)

    def test_choice_is_seeded(self):
        configs = [str(i) for i in range(100)]
        chosen = plan.choose(configs, 11, 1, "x")
        self.assertEqual(len(chosen), 10)
        self.assertEqual(chosen[:5], ["1", "2", "3", "4", "5"])
        self.assertEqual(chosen, plan.choose(configs, 11, 1, "x"))
        self.assertNotEqual(chosen, plan.choose(configs, 11, 2, "x"))
        self.assertEqual(plan.choose(configs, 1, 1, "x"), [])
        self.assertEqual(plan.choose(configs[:3], 64, 1, "x"), ["1", "2"])

    def test_shards_are_everything_once(self):
        items = list(range(10))
        self.assertEqual(sorted(sum((plan.of_shard(items, f"{i}/3") for i in (1, 2, 3)), [])), items)
        with self.assertRaises(problems.ProblemError):
            plan.of_shard(items, "0/3")

    def test_rounds(self):
        self.assertEqual(run.rounds_of(64), [64, 32, 16, 8, 4])
        self.assertEqual(run.rounds_of(5), [5, 4])
        self.assertEqual(run.rounds_of(0), [0])
        sizes = run.rounds_of(64)
        self.assertLessEqual(sum(n * s for n, s in zip(sizes, run.seconds_of(sizes, 1.0))), 1.0)

    def test_values(self):
        for dtype in values.SIZES:
            got = values.numbers(values.make_input(f"500x{dtype}", 3, True), dtype)
            self.assertEqual(len(got), 500)
            self.assertEqual(set(got), set(range(-8, 8)) if dtype == "i4" else {-2, -1, 0, 1, 2})
            if "f" in dtype:
                got = values.numbers(values.make_input(f"500x{dtype}", 3, False), dtype)
                self.assertTrue(all(0.5 <= abs(x) < 2 for x in got))
                self.assertTrue(min(got) < 0 < max(got))
                # Of 8-bit floats there are as many from 0.5 to 2.
                few = {"f8E4M3FN": 32, "f8E5M2": 16}
                self.assertTrue(len(set(got)) == few[dtype] if dtype in few else len(set(got)) > 100)
        one, two = (bytes(values.array.array("f", x)) for x in ([1, 2, float("nan")], [1, 2.5, float("nan")]))
        self.assertEqual(values.differences(one, two, None, "f32"), (1, "element 1 is 2, not 2.5"))
        bound = bytes(values.array.array("d", [0, 0.5, 0]))
        self.assertEqual(values.differences(one, two, bound, "f32"), (0, ""))
        self.assertEqual(values.differences(one, two, 0.5, "f32"), (0, ""))
        self.assertEqual(values.differences(one, two, 0.25, "f32")[0], 1)

    def test_server_outlives_what_it_compiles(self):
        server = compiler.Server(str(HERE / "faulty_compiler.py"), "cpu", seconds=1)
        self.addCleanup(server.close)
        self.assertTrue(server.ask({"input": "good"})["ok"])
        for fault, how in (("hang", "timeout"), ("crash", "crash"), ("memory", "memory"), ("words", "crash")):
            reply = server.ask({"input": fault})
            self.assertEqual((reply["ok"], reply["ended"]), (False, how), reply)
            self.assertTrue(server.ask({"input": "good"})["ok"])
        self.assertEqual(server.started, 5)

    def test_what_a_limit_ended_is_tried_again(self):
        with tempfile.TemporaryDirectory() as folder:
            cache = pathlib.Path(folder) / "cache"
            cache.mkdir()
            arguments = (folder, str(HERE / "faulty_compiler.py"), "cpu", [], {"seconds": 1})

            def compile_as(key, fault):
                build.compile_batch(*arguments, [{"key": key, "input": fault, "configs": {}, "options": []}])
                return json.loads((cache / f"{key}.json").read_text())

            for fault in ("hang", "memory"):
                self.assertIn(compile_as(fault, fault)["ended"], compiler.LIMITS)
                self.assertTrue(compile_as(fault, "good")["ok"])
            self.assertEqual(compile_as("crash", "crash")["ended"], "crash")
            self.assertEqual(compile_as("crash", "good")["ended"], "crash")

    def test_options_are_checked_before_anything_is_compiled(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "plan"
            sweep("transpose", "--rows=8", "--columns=8", "--target=cpu", "--candidates=2", "-o", made)
            for option, said in (
                ("--max-memory=x", "'x': expected a size, as 500M or 4G"),
                ("--timeout=nan", "'nan': expected seconds"),
                ("--timeout=0", "'0': expected seconds"),
                ("--predict=badchip", "badchip"),
                ("--output=/nowhere/x.twb", "/nowhere/x.twb"),
                (f"--output={folder}", "Is a directory"),
            ):
                with self.assertRaisesRegex(RuntimeError, re.escape(said)):
                    sweep("compile", made, option)
            self.assertFalse((made / "cache").exists())
            with self.assertRaisesRegex(RuntimeError, "nothing was compiled; the first: .*more than 1 MiB of memory"):
                sweep("compile", made, "--max-memory=1M")
            self.assertRegex(sweep("compile", made), r"(\d+) candidates: \1 compiled")

    def test_a_journal_is_a_plain_file(self):
        with self.assertRaisesRegex(ValueError, "/dev/full is no plain file"):
            journal.Journal("/dev/full")

    def test_lost_tasks_are_given_again(self):
        class Lossy(concurrent.futures.ThreadPoolExecutor):
            lost = 0

            def submit(self, function, *arguments):
                if not self.lost:
                    self.lost = 1
                    future = concurrent.futures.Future()
                    future.set_exception(concurrent.futures.BrokenExecutor("a worker died"))
                    return future
                return super().submit(function, *arguments)

        with tempfile.TemporaryDirectory() as folder:
            found = [problems.make_problem({"op": "transpose", "rows": 8, "columns": 8})]
            made = plan.make_plan(found, folder, "cpu:native")
            with Lossy(1) as executor:
                entries = build.build(made, folder, made["candidates"], executor, {}, quiet=True)
            self.assertTrue(all(e["ok"] for e in entries.values()))

    def test_best_is_beyond_noise_and_of_one_device(self):
        def record(config, ratio, low, device="u1", size="8", shape=(8,), final=True):
            return {
                "candidate": config + size,
                "kernel": "k",
                "program": "p",
                "config": config,
                "verdict": "ok",
                "ratio": ratio,
                "ratio_low": low,
                "final": final,
                "uuid": device,
                "host": "h",
                "driver": "GPU, 1.0",
                "compiler": {"sha256": "c"},
                "problem": {"inputs": [size]},
                "tuning": {"problem": {"op": "x"}, "shape": list(shape), "default": "d"},
                "median_s": 1.0,
                "device": "cuda:0",
                "time": "t",
            }

        # Its fastest call is slower than the default's.
        unsteady = {**record("c", 5.0, 2.0), "min_s": 1.0, "baseline_min_s": 0.5}
        chosen = best.best_records([record("a", 1.2, 1.1), record("b", 1.3, 1.2), unsteady])
        self.assertEqual([(r["config"], r["chip"], r["gain"]) for r in chosen], [("b", "GPU", 1.3)])
        self.assertEqual(
            best.best_records([record("a", 1.02, 1.01), record("b", 1.3, 0.9), record("c", 2, 2, final=False)]), []
        )
        self.assertEqual(
            [r["config"] for r in best.best_records([record("a", 1.1, 1.01), record("b", 1.3, 0.9)])], ["a"]
        )
        # A dynamic problem: good at one size and bad at the other, or good at both.
        sizes = [
            record("a", 1.5, 1.4, size="8"),
            record("a", 0.5, 0.4, size="16"),
            record("b", 1.2, 1.1, size="8"),
            record("b", 1.2, 1.1, size="16"),
            record("c", 9.0, 9.0, size="8"),
        ]
        self.assertEqual([r["config"] for r in best.best_records(sizes)], ["b"])
        with self.assertRaisesRegex(best.MixError, "of 2 devices: .*u1.*u2"):
            best.best_records([record("a", 1.2, 1.1), record("b", 1.3, 1.2, device="u2")])
        self.assertEqual(
            len(best.best_records([record("a", 1.2, 1.1), record("b", 1.3, 1.2, device="u2")], mix=True)), 1
        )

    def test_fastest_calls_overrule_pairs(self):
        """On a host that others keep busy: what needs one processor waits for none, and is not faster for that."""
        self.assertEqual(best.fastest_ratio({"ratio": 2.0, "min_s": 1.0, "baseline_min_s": None}), 2.0)
        busy = {"ratio": 5.2, "ratio_low": 2.0, "ratio_high": 23.0, "min_s": 1.18e-3, "baseline_min_s": 0.6e-3}
        self.assertEqual(best.standing(busy), "equal")
        self.assertLess(best.steady_ratio(busy), best.steady_ratio({**busy, "ratio": 0.9, "min_s": 0.6e-3}))
        self.assertEqual(best.standing({**busy, "min_s": 0.5e-3}), "faster")
        self.assertEqual(best.standing({**busy, "ratio": 0.5, "ratio_low": 0.1, "ratio_high": 0.9}), "slower")
        figures = [{**busy, "median_s": 1.0, "count": 5, "late": 0, "spread": 0.1}, {**busy, "median_s": 1.0, "count": 5, "late": 0, "spread": 0.1,
                                                                           "baseline_min_s": 0.5e-3}]  # fmt: skip
        self.assertEqual(run.over_processes(figures)["baseline_min_s"], 0.5e-3)

    def test_databases_merge(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            entry = {"target": "p", "chip": "c", "problem": {}, "shape": [1], "config": "a", "gain": 1.1}
            best.write_database(work / "a", [entry, {**entry, "shape": [2]}])
            best.write_database(work / "b", [{**entry, "config": "b", "gain": 1.2}])
            self.assertEqual(best.merge([work / "a", work / "b"], work / "c"), ("records of a database", 2))
            self.assertEqual([r["config"] for r in best.read_database(work / "c")], ["b", "a"])

    def test_folders_of_processes_that_were_killed_go(self):
        """Those of a process that lives stay."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            path, scratch = pathlib.Path(folder) / "x.twb", lambda: sorted(pathlib.Path(folder).glob("tilewright-sweep-*"))
            with zipfile.ZipFile(str(path), "w") as archive:
                archive.writestr("bundle.json", "{}")
            text = "import sys; from tilewright_sweep import bundle; made = bundle.Bundle(sys.argv[1]); print(made.folder, flush=True); input()"
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "python/src"), "TMPDIR": folder}
            started = subprocess.Popen([sys.executable, "-c", text, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       env=environment, text=True)  # fmt: skip
            other = pathlib.Path(started.stdout.readline().strip())
            bundle.Bundle(path).close()
            self.assertEqual(scratch(), [other])
            started.kill()
            started.communicate()
            bundle.Bundle(path).close()
            self.assertEqual(scratch(), [])

    def test_folders_that_are_no_scratch_of_ours_stay(self):
        """Who writes into the temporary folder neither stops a run nor has it remove what another user has there."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            places = [pathlib.Path(folder) / f"tilewright-sweep-{name}" for name in ("pipe", "link", "ours", "theirs")]
            for place in places:
                place.mkdir()
                (place / "content").write_text("1")
            os.mkfifo(str(places[0] / ".owner"))
            (places[1] / ".owner").symlink_to(places[2] / "content")
            for place in places[2:]:
                (place / ".owner").write_text("")
            if not os.getuid():
                os.chown(str(places[3] / ".owner"), 1, 1)
            alarm = signal.signal(signal.SIGALRM, lambda *_: self.fail("it waits for the other end of the pipe"))
            self.addCleanup(signal.signal, signal.SIGALRM, alarm)
            signal.alarm(10)
            bundle._remove_ownerless()
            signal.alarm(0)
            gone = places[2:3] if not os.getuid() else places[2:]
            self.assertEqual([place for place in places if not place.exists()], gone)

    def test_not_a_bundle(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "x.twb"
            with zipfile.ZipFile(str(path), "w") as archive:
                archive.writestr("a", "b")
            with self.assertRaisesRegex(bundle.BundleError, "is no bundle"):
                bundle.Bundle(path)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
