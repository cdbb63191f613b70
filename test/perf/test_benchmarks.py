# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmarks' own tests: suites are read, answers are checked, results become a page.

    python test/perf/test_benchmarks.py BUILD
"""

import concurrent.futures
import contextlib
import importlib.util
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "perf/bench"), str(ROOT / "perf/cpu"), str(ROOT / "perf"), str(ROOT / "python/src")]

import numpy as np

import attempts
import contenders
import places
import report
import run as bench_run
import suite
from ladder import page as ladder_page
from ladder import run as ladder_run
from ladder import rungs as ladder_rungs
from tilewright_sweep import contest, journal, runtime


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


class Queue:
    """A device and its stream, whose work is done beside the host's."""

    def __init__(self, name):
        self.name, self.free = name, 0

    def enqueue(self, device, host=0):
        """The time when it is done."""
        if host:
            time.sleep(host)
        self.free = max(self.free, time.perf_counter()) + device
        return self.free

    def synchronize(self):
        time.sleep(max(0, self.free - time.perf_counter()))

    def event(self):
        event = types.SimpleNamespace()
        event.record = lambda _: setattr(event, "at", self.enqueue(0))
        event.seconds_until = lambda end: end.at - event.at
        return event

    def buffer(self, _):
        return types.SimpleNamespace(fill=lambda *_: self.enqueue(1e-4))


class Small(unittest.TestCase):
    """The small suite on every device of this machine."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.results = cls.work / "bench.jsonl"
        done = run(BUILD / "bin/tilewright-compile", HERE / "small/small.mlir", "-o", cls.work / "small.tw",
                   "--target=cuda:sm_80,vulkan,cpu")
        if done.returncode:
            raise RuntimeError(done.stderr)
        for device in ("cpu", "vulkan", "ptxsim"):
            done = cls.bench(device)
            if done.returncode != 2:
                raise RuntimeError(done.stdout + done.stderr)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def bench(cls, device, *more):
        return run(sys.executable, ROOT / "perf/bench/run.py", f"--library={BUILD}/lib/libtilewright.so",
                   f"--device={device}", "--seconds=0.01", f"--json={cls.results}", f"--artifacts={cls.work}", *more,
                   HERE / "small")

    def lines(self):
        return [json.loads(line) for line in self.results.read_text().splitlines()]

    def test_verdicts(self):
        verdicts = {(x["device"], x["problem"]["function"]): x["verdict"] for x in self.lines()}
        self.assertEqual(len(verdicts), 9)
        for (device, function), verdict in verdicts.items():
            self.assertEqual(verdict, "mismatch" if function.startswith("wrong") else "ok", (device, function))

    def test_figures(self):
        for line in self.lines():
            self.assertGreater(line["median_s"], 0)
            self.assertLessEqual(line["min_s"], line["median_s"])
            self.assertEqual(line["flops_per_s"] is None, False)
            self.assertEqual(len(line["config"]["launches"]), 1)

    def test_goes_on(self):
        before = self.results.read_text()
        done = self.bench("cpu")
        self.assertIn("already", done.stdout)
        self.assertEqual(self.results.read_text(), before)

    def test_page_is_reproducible(self):
        pages = []
        for name in ("a", "b"):
            with contextlib.redirect_stdout(io.StringIO()):
                output = self.work / name / "page"
                output.mkdir(parents=True)
                (output / "README.md").write_text(report.page(self.work, output, True))
            pages.append({path.name: path.read_bytes() for path in output.iterdir()})
        self.assertEqual(pages[0], pages[1])
        self.assertEqual(sorted(pages[0]), ["README.md"])  # there is nobody to hold ours against
        self.assertIn("| mismatch |", pages[0]["README.md"].decode())

    def test_other_artifacts_are_other_measurements(self):
        before = self.results.read_text()
        tuned = self.work / "tuned"
        tuned.mkdir()
        shutil.copy(self.work / "small.tw", tuned / "small.tw")
        done = self.bench("cpu", f"--tuned={tuned}", "--problems=bf16")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        line = json.loads(self.results.read_text().splitlines()[-1])
        self.results.write_text(before)
        self.assertEqual(line["tuned"]["verdict"], "ok")
        self.assertGreater(line["tuned"]["median_s"], 0)
        self.assertEqual(line["tuned"]["artifact"], line["artifact"])

    def test_goes_on_after_an_error(self):
        folder, results = self.work / "errors", self.work / "errors.jsonl"
        shutil.copytree(HERE / "small", folder / "small")
        problems = folder / "small/problems.txt"
        # One that refuses its inputs before the others.
        problems.write_text("--function=f16_64x96x128 --input=64x127xf16=random:1 --input=128x96xf16=random:2\n"
                            + problems.read_text())
        for _ in range(2):  # a restart does not stop there again
            done = run(sys.executable, ROOT / "perf/bench/run.py", f"--library={BUILD}/lib/libtilewright.so",
                       "--device=cpu", "--seconds=0.01", "--no-peers", f"--json={results}", f"--artifacts={self.work}",
                       "--problems=f16", folder / "small")
        self.assertIn("already", done.stdout)
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        self.assertEqual([line["verdict"] for line in lines], ["error", "ok", "ok", "mismatch"])
        self.assertIn("expected", lines[0]["error"])
        self.assertIn("| error: ", report.table(lines))

    def test_missing_device(self):
        done = self.bench("cuda:7")
        self.assertEqual(done.returncode, 1)
        self.assertIn("run.py: error: ", done.stderr)


class Compile(unittest.TestCase):
    """What compiling costs."""

    def test_line(self):
        with tempfile.TemporaryDirectory() as folder:
            results = pathlib.Path(folder) / "compile.jsonl"
            done = run(sys.executable, ROOT / "perf/compile.py", f"--compiler={BUILD}/bin/tilewright-compile", "--runs=1",
                       "--target=cpu", f"--json={results}", HERE / "chain.mlir")
            self.assertEqual(done.returncode, 0, done.stderr)
            line = json.loads(results.read_text())
        self.assertLessEqual(line["arena_bytes"], 1.25 * line["live_bytes"])
        self.assertLess(line["peak_bytes"], 500e6)
        self.assertGreater(line["parts_s"]["kernels"], 0)
        self.assertGreater(line["parts_s"]["configure"], 0)

    def test_error(self):
        done = run(sys.executable, ROOT / "perf/compile.py", f"--compiler={BUILD}/bin/tilewright-compile", "--target=nothing",
                   HERE / "chain.mlir")
        self.assertEqual(done.returncode, 1)
        self.assertIn("compile.py: error: ", done.stderr)


class Ladder(unittest.TestCase):
    """Its plan, its verdicts and its page; scripts/test climbs it on the simulator."""

    LINE = {"schema": 1, "version": "v", "size": "full", "target": "cuda:sm_90a", "slice": "2-s", "title": "Squares", "device": "cuda:0",
            "uuid": "u", "driver": "d", "problem": {"name": "p"}, "absent": "",
            "peers": {"cublas": {"verdict": "ok", "median_s": 1.0, "tflops": 8.0}, "triton": {"error": "no module"}},
            "rungs": {"a": {"what": "one", "gate": 0.75, "verdict": "ok", "median_s": 1.25, "tflops": 6.4, "artifact": "1"},
                      "b": {"what": "two", "gate": 0.92, "verdict": "ok", "median_s": 1.25, "tflops": 6.4, "artifact": "2"},
                      "c": {"what": "three", "gate": 0.5, "verdict": "mismatch", "median_s": 1.0, "tflops": 8.0, "artifact": "3"},
                      "e": {"what": "none", "gate": 0, "verdict": "error", "error": "lost", "artifact": "4"}}}

    def judged(self):
        line = json.loads(json.dumps(self.LINE))
        ladder_run.judge(line)
        return line

    def test_plan(self):
        for size in ("full", "tiny"):
            slices = ladder_rungs.slices(size)
            self.assertEqual(len({s.name for s in slices}), len(slices))
            self.assertEqual([s.name[0] for s in slices], sorted(s.name[0] for s in slices))
            for slice_ in slices:
                self.assertEqual(len({p.name for p in slice_.problems}), len(slice_.problems))
                self.assertEqual(slice_.rungs[-1].name, "default")
            # The same products of every type; where tiles are no whole waves, of one.
            products = {type_: {(p.m, p.n, p.k, p.batch) for s in slices for p in s.problems if p.type == type_ and "waves" not in s.name}
                        for type_ in ladder_rungs.TYPES}
            self.assertEqual(products["f16"], products["bf16"])
            self.assertEqual(products["e4m3"], products["bf16"])
        gates = {r.gate for r in ladder_rungs.ladder("bf16")}
        self.assertLessEqual({0.75, 0.83, 0.92, 0.97, 1.0}, gates)

    #: Of each rung but the default, in PTX: products, copies by threads, tensor copies, those of them to several blocks, tensor
    #: stores, setmaxnreg, waits at mbarriers, mbarriers (one of a stage that its only warpgroup fills, else two).
    COUNTED = (r"wgmma\.mma_async", r"cp\.async\.cg", r"bulk\.tensor\.\dd\.shared", r"multicast::cluster", r"bulk\.tensor\.\dd\.global",
               r"setmaxnreg", r"mbarrier\.try_wait", r"mbarrier\.init")
    RUNGS = {"mma": (0, 48, 0, 0, 0, 0, 0, 0), "tma": (0, 0, 3, 0, 0, 0, 2, 8), "wgmma": (4, 40, 0, 0, 0, 0, 1, 2),
             "wgmma-tma": (4, 0, 10, 0, 0, 0, 1, 2), "stages": (4, 0, 10, 0, 0, 0, 1, 4), "producer": (4, 0, 5, 0, 0, 0, 2, 8),
             "consumers": (4, 0, 5, 0, 0, 0, 2, 6), "registers": (4, 0, 5, 0, 0, 2, 2, 6), "raster": (4, 0, 5, 0, 0, 2, 2, 6),
             "persistent": (4, 0, 5, 0, 0, 2, 2, 6), "cluster": (4, 0, 3, 2, 0, 2, 2, 6), "store": (4, 0, 3, 2, 4, 2, 2, 8)}

    def test_rungs_have_their_techniques(self):
        problem = ladder_rungs.Problem(4096, 4096, 4096)

        def counts(rung):
            with tempfile.TemporaryDirectory() as folder:
                part = ladder_rungs.Slice("", "", (problem,), (rung,))
                done = subprocess.run([f"{BUILD}/bin/tilewright-compile", "-", "--target=cuda:sm_90a", "--emit=ptx", "-o", folder],
                                      input=ladder_rungs.program(part, rung), text=True, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                ptx = "".join(path.read_text() for path in pathlib.Path(folder).glob("**/*.ptx"))
            return tuple(len(re.findall(pattern, ptx)) for pattern in self.COUNTED)

        rungs = [rung for rung in ladder_rungs.ladder("bf16") if rung.config]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            self.assertEqual(dict(zip((rung.name for rung in rungs), pool.map(counts, rungs))), self.RUNGS)

    def test_verdicts(self):
        rungs = self.judged()["rungs"]
        self.assertEqual({k: r.get("passed") for k, r in rungs.items()}, {"a": True, "b": False, "c": False, "e": None})
        self.assertAlmostEqual(rungs["b"]["of_cublas"], 0.8)
        alone = json.loads(json.dumps({**self.LINE, "peers": {}, "absent": "none here"}))
        ladder_run.judge(alone)
        self.assertNotIn("passed", alone["rungs"]["a"])
        self.assertIn("no peers: none here", ladder_run.describe(alone))

    def test_page(self):
        rows = ladder_page.tables([self.judged()]).splitlines()
        self.assertIn("| `a` | one | 6.4, 80 % (passed 75) | 80.0 % |", rows)
        self.assertIn("| `b` | two | 6.4, 80 % (missed 92) | 80.0 % |", rows)
        self.assertIn("| `c` | three | 8.0, 100 % (missed 50) **mismatch** | 100.0 % |", rows)
        self.assertIn("| `e` | none | error: lost |  |", rows)
        self.assertIn("| cuBLAS |  | 8.0 |  |", rows)

    def test_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ladder.jsonl"
            path.write_text(json.dumps(self.LINE) + "\n" + '{"schema": 1, "sl')
            # What was cut off swallows nothing that comes behind it.
            journal.append(path, self.LINE)
            journal.append(path, self.LINE)
            self.assertEqual([ladder_run.key_of(line) for line in journal.read_records(path)],
                             [ladder_run.key_of(self.LINE)] * 3)
        other = json.loads(json.dumps(self.LINE))
        other["rungs"]["a"]["artifact"] = "another"
        self.assertNotEqual(ladder_run.key_of(other), ladder_run.key_of(self.LINE))

    def test_bounds(self):
        problem = ladder_rungs.Problem(4, 5, 64, "e4m3")
        generator = np.random.default_rng(1)
        a, b = generator.standard_normal((4, 64)), generator.standard_normal((5, 64))
        right, bound = ladder_run.reference(problem, a, b)
        np.testing.assert_allclose(right, a @ b.T)
        self.assertTrue((bound > 0).all())
        self.assertFalse((abs(right * 1.1 - right) <= bound).all())

    def test_floats_of_8_bits(self):
        for dtype, smallest in (("f8E4M3FN", 2.0**-9), ("f8E5M2", 2.0**-16)):
            known = places.values_of(dtype)
            words = np.flatnonzero(np.isfinite(known))
            self.assertEqual(known[1], smallest)
            np.testing.assert_array_equal(places.round_to_float8(known[words], dtype), words)
            np.testing.assert_array_equal(places.round_to_float8(-known[words[1:]], dtype), words[1:] | 128)
            self.assertEqual(places.round_to_float8(np.array([1e9]), dtype)[0], words[-1])


class Gpus(unittest.TestCase):
    """PyTorch's GPU is the runtime's, by its UUID."""

    def torch(self, uuids):
        cuda = types.SimpleNamespace(device_count=lambda: len(uuids),
                                     get_device_properties=lambda i: types.SimpleNamespace(uuid=uuids[i]))
        return types.SimpleNamespace(cuda=cuda, __version__="2.5")

    def test_number(self):
        known = [f"{i:08x}-0000-0000-0000-000000000000" for i in range(3)]
        self.assertEqual(places._number_of(self.torch(known), f"{2:08x}" + "0" * 24), 2)
        self.assertEqual(places._number_of(self.torch(known[:1]), "another"), 0)
        with self.assertRaisesRegex(runtime.Error, "which of its 3 GPUs is GPU-00000007-"):
            places._number_of(self.torch(known), f"{7:08x}" + "0" * 24)


class Attempts(unittest.TestCase):
    """What loses the device is not tried again."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name) / "results.jsonl"

    def fail(self, answers, *words):
        place = types.SimpleNamespace(answers=lambda: answers)
        with attempts.Attempts(self.results).of(place, *words):
            raise runtime.Error("an illegal address was encountered\nmore")

    def test_lost(self):
        with self.assertRaisesRegex(attempts.DeviceLost, "suite f: an illegal address was encountered$"):
            self.fail(False, "suite", "f")
        with self.assertRaisesRegex(runtime.Error, "not tried again, it lost the device: an illegal address"):
            self.fail(True, "suite", "f")
        with self.assertRaisesRegex(runtime.Error, "^an illegal address"):
            self.fail(True, "suite", "g")

    def test_died(self):
        begun = json.dumps({"is": "begun", "of": ["suite", "f"]}) + "\n"
        self.results.with_name("results.jsonl.attempts").write_text(begun)
        self.assertEqual(attempts.Attempts(self.results).lost, {})
        with self.results.with_name("results.jsonl.attempts").open("a") as file:
            file.write(begun + '{"is": "be')
        self.assertEqual(attempts.Attempts(self.results).lost, {("suite", "f"): "the process died at it twice"})
        self.assertEqual(list(attempts.Attempts(self.results).lost), [("suite", "f")])

    def test_interrupted(self):
        with self.assertRaises(KeyboardInterrupt):
            with attempts.Attempts(self.results).of(None, "suite", "f"):
                raise KeyboardInterrupt
        self.assertIn('"over"', self.results.with_name("results.jsonl.attempts").read_text().splitlines()[-1])

    def test_rung_that_lost_it_twice(self):
        known = types.SimpleNamespace(lost={("p", "stages", "hash"): "x", ("q", "stages", "hash"): "x"})
        call = lambda rung: ladder_run.check_rung(None, known, types.SimpleNamespace(name=rung), types.SimpleNamespace(hash="hash"),
                                                  types.SimpleNamespace(name="r"), [], [], None, {})
        with self.assertRaisesRegex(runtime.Error, "lost the device at two other problems"):
            call("stages")
        with self.assertRaises(AttributeError):  # of the attempts that are none
            call("producer")


class Parts(unittest.TestCase):
    def test_problems(self):
        for folder in (ROOT / "perf/suites").iterdir():
            if (folder / "problems.txt").exists():
                self.assertTrue(suite.read_problems(folder / "problems.txt"), folder)

    def test_problems_have_their_programs_inputs(self):
        for folder in (ROOT / "perf/suites").iterdir():
            if not (folder / "problems.txt").exists():
                continue
            text = (folder / f"{folder.name}.mlir").read_text()
            for problem in suite.read_problems(folder / "problems.txt"):
                head = re.search(rf"^func\.func @{problem.function}\((.*?)\)\s*-> ", text, re.M | re.S)
                wanted = re.findall(r"tensor<([\w?]+)>", head[1])
                given = ["x".join([*map(str, x.dims), x.dtype]) for x in problem.inputs]
                self.assertEqual(len(wanted), len(given), problem.function)
                for want, have in zip(wanted, given):
                    self.assertRegex(have, "^" + want.replace("?", r"\d+") + "$", f"{folder.name}: {problem.function}")

    def test_four_bits(self):
        """As a program has them: two to a byte, the first in its low half."""
        spec = suite.Input((3, 5), "i4", 1, (-8, 7))
        place = types.SimpleNamespace(types=places.HostPlace.types)
        words = places.HostPlace.random(place, spec)
        self.assertEqual((words.dtype, words.shape), (np.int8, (8,)))
        halves = [half for word in words.tobytes() for half in (word & 15, word >> 4)]
        right = np.array([half - 16 * (half > 7) for half in halves[:15]]).reshape(3, 5)
        np.testing.assert_array_equal(places.HostPlace.wide(place, words, spec), right)
        self.assertEqual(set(places.HostPlace.wide(place, places.HostPlace.random(place, suite.Input((64, 64), "i4", 2)),
                                                   suite.Input((64, 64), "i4", 2)).ravel()), set(range(-8, 8)))

    def test_results_beside_the_first(self):
        """Each that the suite knows has its part in the verdict, with its number."""
        place = types.SimpleNamespace(all_within=lambda *x: places.HostPlace.all_within(None, *x))
        known, right = [(np.zeros(4), 0.5), (np.ones(3), 0.0)], [np.full(4, 0.25), np.ones(3)]
        judge = lambda *gots: bench_run.verdict_of_all(place, known, gots, [0.0] * 2)
        self.assertEqual(judge(*right, "another"), "ok")
        self.assertEqual(judge(right[0], right[1] * 2), "mismatch of result 1")
        self.assertEqual(judge(right[1], right[1]), "mismatch: shape (3,), not (4,) of result 0")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch here")
    def test_peers_on_the_cpu(self):
        """Results of peers have the dims of ours, where PyTorch computes such things without a GPU."""
        done = run(sys.executable, HERE / "peers_on_cpu.py")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_whole_numbers(self):
        text = "2x300xi32=int:-1:7:4"
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"--function=f --input={text}\n")
            file.flush()
            (made,) = suite.read_problems(pathlib.Path(file.name))[0].inputs
        self.assertEqual(str(made), text)
        numbers = places.HostPlace.random(types.SimpleNamespace(types=places.HostPlace.types), made)
        self.assertEqual((numbers.dtype, numbers.shape, numbers.min(), numbers.max()), (np.int32, (2, 300), -1, 7))

    def test_pages_of_attention(self):
        peers = suite.load_peers(ROOT / "perf/suites/attention")
        random = np.random.default_rng(0)
        k, v = random.standard_normal((2, 5, 4, 2, 8))
        q, table = random.standard_normal((1, 2, 3, 1, 8)), np.array([[3.0, 0.0, 3.0]])
        rows = [x[[3, 0, 3]].reshape(12, 2, 8).transpose(1, 0, 2) for x in (k, v)]
        for got, right in zip(peers.reference("f16_pages", q, k, v, table), peers.reference("f16", q[0], *rows)):
            np.testing.assert_array_equal(got[0], right)

    def test_windows_of_attention(self):
        """Queries behind the window's size see its keys alone."""
        peers = suite.load_peers(ROOT / "perf/suites/attention")
        q, k, v = np.random.default_rng(0).standard_normal((3, 1, 9, 8))
        got, _ = peers.reference("f16_causal_window_4", q, k, v)
        causal, _ = peers.reference("f16_causal", q, k, v)
        np.testing.assert_array_equal(got[0, :4], causal[0, :4])
        for row in range(4, 9):
            right, _ = peers.reference("f16", q[:, row:row + 1], k[:, row - 3:row + 1], v[:, row - 3:row + 1])
            np.testing.assert_allclose(got[0, row], right[0, 0])

    def test_bad_problem(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("--function=f --input=4x4xf32\n")
            file.flush()
            with self.assertRaisesRegex(SystemExit, ":1: '--input=4x4xf32' is neither"):
                suite.read_problems(pathlib.Path(file.name))

    def test_percentile(self):
        self.assertEqual(contest.percentile([1, 2, 3, 4], 0.5), 2.5)
        self.assertEqual(contest.percentile([7], 0.9), 7)

    def test_a_slow_host_is_not_in_the_times(self):
        """Calls that take the device 20 us and the host 400."""
        for name, least, most in (("cuda:0", 19e-6, 100e-6), ("cpu", 390e-6, 1e-2)):
            queue = Queue(name)
            device, host = contest.Batches(queue, queue).time(lambda _: queue.enqueue(20e-6, 400e-6), 10)
            self.assertTrue(least < device < most, f"{name}: {device}")
            self.assertGreater(host, 390e-6)

    def test_a_host_that_is_late_is_said(self):
        """It takes twice as long from batch to batch, so that what was put ahead of one never lasts."""
        clock, calls = [0.0], []
        event = types.SimpleNamespace(record=lambda _: None, seconds_until=lambda _: 1e-4)
        device = types.SimpleNamespace(name="cuda:0", event=lambda: event, synchronize=lambda: None,
                                       buffer=lambda _: types.SimpleNamespace(fill=lambda *_: None))

        def slow(_):
            calls.append(0)
            clock[0] += 1e-3 * 1.5 ** len(calls)

        with mock.patch.object(contest, "time", types.SimpleNamespace(perf_counter=lambda: clock[0])):
            batches = contest.Batches(device, device)
            batches.time(lambda _: None, 1, name="quick")
            batches.time(slow, 1, name="slow")
        self.assertEqual((len(calls), batches.late), (2 * batches.ATTEMPTS, {"slow": 1}))
        self.assertEqual(contest.late_note({"late": 2, "count": 3}), "host late in 67 %")
        self.assertEqual(contest.late_note({"late": 10, "count": 100}), "")
        self.assertEqual(contest.late_note({"count": 100}), "")  # of before

    def test_pages_say_where_the_host_was_late(self):
        line = {"verdict": "ok", "median_s": 1e-6, "spread": 0.02, "count": 10, "late": 3,
                "peers": {"a": {"ratio": 0.5, "median_s": 2e-6, "verdict": "ok", "count": 10, "late": 2}}}
        self.assertEqual(report.ours_cells(line)[2], "2 %, host late in 30 %")
        self.assertEqual(report.peer_cell(line, "a"), "2 µs, 0.50× (host late in 20 %)")
        rung = json.loads(json.dumps(Ladder.LINE))
        rung["rungs"]["a"].update(count=10, late=5)
        self.assertIn("| 6.4 (host late in 50 %) |", ladder_page.tables([rung]))

    def test_checks_are_kept_beside_the_page(self):
        """Their totals and failures; a page made again of what was kept is the same one."""
        with tempfile.TemporaryDirectory() as folder:
            results, first, again = (pathlib.Path(folder) / name for name in ("results", "page/of", "again/of"))
            results.mkdir()
            lines = [{"case": f"c{n}", "verdict": "passed"} for n in range(50)] + [{"case": "x", "verdict": "failed", "reason": "wrong"}]
            (results / "e2e.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            (results / "cts.jsonl").write_text('{"case": "a", "verdict": "pass"}\n{"case": "b", "verdict": "skip"}\n')
            (results / "ladder.jsonl").write_text(json.dumps(Ladder.LINE) + "\n")
            (results / "machine.txt").write_text("a machine\n")
            for source, target in ((results, first), (first, again)):
                done = run(sys.executable, ROOT / "perf/report.py", "--no-pictures", source, target)
                self.assertEqual(done.returncode, 0, done.stderr)
            kept = [{path.name: path.read_bytes() for path in page.iterdir()} for page in (first, again)]
        self.assertEqual(kept[0], kept[1])
        self.assertEqual([json.loads(line) for line in kept[0]["checks.jsonl"].splitlines()],
                         [{"of": "cts.jsonl", "totals": {"passed": 1, "skipped": 1}},
                          {"of": "e2e.jsonl", "totals": {"failed": 1, "passed": 50}}, {"of": "e2e.jsonl", "line": lines[-1]}])
        self.assertIn("* end-to-end cases: 1 failed, 50 passed", kept[0]["README.md"].decode())

    def test_line_cut_off(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write('{"verdict": "ok"}\n{"verd')
            file.flush()
            self.assertEqual(report.read_lines(pathlib.Path(file.name)), [{"verdict": "ok"}])

    def test_peer_cells(self):
        line = {"peers": {"a": {"ratio": 0.5, "median_s": 2e-6, "verdict": "mismatch"}, "b": {"error": "no module"}}}
        self.assertEqual(report.peer_cell(line, "a"), "2 µs, 0.50× (mismatch)")
        self.assertEqual(report.peer_cell(line, "b"), "no module")
        self.assertEqual(report.peer_cell(line, "c"), "")
        line["peers"]["a"].update(tuned=True, ratio_tuned=0.75, verdict="ok")
        self.assertEqual(report.peer_cell(line, "a"), "2 µs, 0.50× (0.75× of ours tuned)")

    def test_a_column_per_target(self):
        def line(target, median, function="f"):
            return {"suite": "s", "problem": {"function": function, "inputs": []}, "config": {"target": target}, "device": "cpu",
                    "driver": "d", "version": "v", "framework": "x", "verdict": "ok", "median_s": median, "spread": 0,
                    "peers": {}}

        rows = report.table([line("a", 1e-6), line("b", 2e-6), line("b", 3e-6, "g")]).splitlines()
        self.assertIn("median (`a`)", rows[0])
        self.assertIn("median (`b`)", rows[0])
        self.assertEqual(rows[2], "| `f` | ok | 1 µs | 0 % |  |  | ok | 2 µs | 0 % |  |  |")
        self.assertEqual(rows[3], "| `g` |  |  |  |  |  | ok | 3 µs | 0 % |  |  |")
        bars = report.contenders([line("a", 1e-6), line("b", 2e-6)])
        self.assertEqual({name: {row: taken for row, (_, taken) in rows.items()} for name, rows in bars.items()},
                         {"tilewright a": {0: 1e-6}, "tilewright b": {0: 2e-6}})

    def test_ceilings_are_of_the_operands_type(self):
        for inputs, name in (("4x4xf16 4x4xf16", "flops_per_s"), ("4x4xi8 4x4xi8 4xf32", "i8_flops_per_s"),
                             ("4x4xbf16 4x4xi8", "flops_per_s"), ("4x4xf32 4x4xf32", "f32_flops_per_s")):
            made = tuple(suite.Input(tuple(map(int, word.split("x")[:-1])), word.split("x")[-1], 0)
                         for word in inputs.split())
            self.assertEqual(bench_run.ceiling_of(suite.Problem("f", made)), name)

    def test_slow_peers_are_asked_for(self):
        for name in ("gemm", "memory", "attention"):
            peers = suite.load_peers(ROOT / "perf/suites" / name)
            arguments = types.SimpleNamespace(no_peers=False, slow_peers=True)
            self.assertEqual(bench_run.peers_to_time(peers, arguments), peers.PEERS)
            arguments.slow_peers = False
            slow = getattr(peers, "SLOW", set())
            self.assertEqual(set(bench_run.peers_to_time(peers, arguments)), set(peers.PEERS) - slow)
            arguments.no_peers = True
            self.assertEqual(bench_run.peers_to_time(peers, arguments), {})

    def test_without_peers_torch_is_not_imported(self):
        class Cuda:
            name = "cuda:0"

            def stream(self):
                return types.SimpleNamespace(set_timeout=timeouts.append)

        timeouts = []
        arguments = types.SimpleNamespace(device="cuda", no_peers=True, framework=None)
        place = bench_run.open_place(arguments, types.SimpleNamespace(open=lambda name: Cuda()))
        self.assertFalse(place.peers)
        self.assertNotIn("torch", sys.modules)
        self.assertEqual(len(timeouts), 1)


class Backward(unittest.TestCase):
    """The bound on attention's gradients: right answers keep it, and no others."""

    @staticmethod
    def gradients(inputs, causal, fault):
        """In f32, the weights and the scores' gradients rounded to f16, as kernels do it; `fault` is what is planted."""
        half = lambda x: x.astype(np.float16)
        q, k, v, o, grad, lse = (x.astype(np.float32) for x in inputs)
        scale = np.float32(q.shape[-1] ** -0.5)
        power = np.exp(q @ k.swapaxes(1, 2) * scale - lse[..., None])
        power = np.tril(power) if causal else power
        rows = (grad * o).sum(-1)[..., None] * (fault != "delta")
        ds = half(power * (grad @ v.swapaxes(1, 2) - rows) * (1 if fault == "scale" else scale)).astype(np.float32)
        power = half(power).astype(np.float32)
        if fault == "keys":
            ds[..., -16:] = power[..., -16:] = 0
        if fault == "queries":
            ds[:, -16:] = power[:, -16:] = 0
        return [half(x) for x in (ds @ k, ds.swapaxes(1, 2) @ q, power.swapaxes(1, 2) @ grad)]

    def test_bound(self):
        peers = suite.load_peers(ROOT / "perf/suites/backward")
        every = [True] * 3
        # Which of dQ, dK and dV keep the bound.
        faults = {"": every, "delta": [False, False, True], "scale": [False, False, True], "keys": [False] * 3, "queries": [False] * 3}
        for heads, tokens, depth in ((2, 160, 32), (1, 512, 64)):
            random = np.random.default_rng(tokens)
            for function in ("f16", "f16_causal"):
                inputs = [random.standard_normal((heads, tokens, depth)).astype(np.float16) for _ in range(5)]
                inputs = peers.inputs(function, *inputs, random.standard_normal((heads, tokens)).astype(np.float32))
                known = peers.reference(function, *(x.astype(float) for x in inputs))
                for fault, kept in faults.items():
                    gots = self.gradients(inputs, "causal" in function, fault)
                    self.assertEqual([bool((abs(got - right) <= bound).all()) for got, (right, bound) in zip(gots, known)], kept,
                                     (function, tokens, fault))

    def test_gradients(self):
        """Against differences of attention itself."""
        peers = suite.load_peers(ROOT / "perf/suites/backward")
        random = np.random.default_rng(1)
        q, k, v, o, grad = (random.standard_normal((1, 6, 4)) for _ in range(5))
        for function in ("f", "f_causal"):
            given = peers.inputs(function, q, k, v, o, grad, np.zeros((1, 6)))
            known = peers.reference(function, *given)
            loss = lambda *qkv: (peers.inputs(function, *qkv, np.zeros_like(o), grad, np.zeros((1, 6)))[3] * grad).sum()
            for number, (right, _) in enumerate(known):
                for place in ((0, 0, 0), (0, 3, 2), (0, 5, 1)):
                    sides = []
                    for step in (1e-5, -1e-5):
                        moved = [q.copy(), k.copy(), v.copy()]
                        moved[number][place] += step
                        sides.append(loss(*moved))
                    self.assertAlmostEqual((sides[0] - sides[1]) / 2e-5, right[place], places=6)


class Commands(unittest.TestCase):
    def test_a_page_has_the_options_that_decide_what_is_measured(self):
        words = ["--threads", "1,2", "--torch", "env/bin/python", "--types=f32,bf16", "--output=somewhere", "--rounds", "2"]
        self.assertEqual(contenders.options_of(words), "--threads 1,2 --types=f32,bf16 --rounds 2")
        self.assertEqual(contenders.options_of(["--output"]), "")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
