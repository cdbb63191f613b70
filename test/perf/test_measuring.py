# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tilewright-sweep writes down beside times: ceilings and rooflines, surroundings, resources; and measuring as tasks.

python test/perf/test_measuring.py BUILD
"""

import ast
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
import threading
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python/src")]

from tilewright_sweep import best, bundle, ceilings, journal, measure, pictures, problems, report, run, runtime, spread, surroundings, watch

UUID = "00112233445566778899aabbccddeeff"


def command(*arguments):
    return [str(BUILD / "bin/tilewright-sweep"), *map(str, arguments)]


def sweep(*arguments, code=0):
    done = subprocess.run(command(*arguments), capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class OnCpu(unittest.TestCase):
    """Three small problems of a plan, on this machine's processors."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        suite = {"schema": 1, "problems": [
            {"op": "gemm", "m": 32, "n": 64, "k": 64, "types": "f32"},
            {"op": "softmax", "rows": 64, "columns": 128},
            {"op": "transpose", "rows": 64, "columns": [96, 128]}]}  # fmt: skip
        (cls.work / "suite.json").write_text(json.dumps(suite))
        sweep("suite", cls.work / "suite.json", "--target=cpu:native", "--candidates=3", "-o", cls.work / "plan")
        sweep("compile", cls.work / "plan")
        cls.bundle = cls.work / "plan.twb"
        cls.candidates = sorted(c["id"] for c in json.loads((cls.work / "plan/plan.json").read_text())["candidates"])

    def test_records_have_ceilings_and_their_share(self):
        results = self.work / "one.jsonl"
        said = sweep("run", self.bundle, "--device=cpu", "--no-cold", "-o", results)
        self.assertRegex(said, r"at most f32:f32: [0-9.e+]+ GFLOP/s, [0-9.e+]+ GB/s of memory")
        for r in journal.read_records(results):
            most, roof, around = r["ceilings"], r["roofline"], r["surroundings"]
            self.assertEqual(most["types"], "f32:f32")
            self.assertGreater(most["product_flops_per_s"], 0)
            self.assertGreater(most["fma_flops_per_s"], 0)
            self.assertTrue(most["library_flops_per_s"] if most["library"] else most["library_unknown"])
            self.assertEqual([step[0] for step in most["bytes_per_s"]], [49152 * n for n in ceilings.TRIAD_ROWS])
            self.assertEqual(most["memory_bytes_per_s"], most["bytes_per_s"][-1][1])
            self.assertEqual((r["late"], r["count"] > 0), (0, True))  # nothing is put ahead on a CPU
            self.assertAlmostEqual(roof["share"] * r["median_s"] / roof["least_s"], 1, places=6)
            self.assertIn(roof["bound"], ("operations", "cache", "memory"))
            self.assertIsNone(r["resources"])
            self.assertIn("this device does not say", r["unknown"]["resources"])
            self.assertEqual(len(around["load"]), 2)
            for member in surroundings.MEMBERS:
                self.assertTrue(around[member] is not None or around["unknown"][member], member)
        # What has no operations is bound by bytes.
        self.assertNotIn("operations", {r["roofline"]["bound"] for r in journal.read_records(results) if r["problem"]["op"] == "transpose"})
        # Ceilings are not measured again.
        lines = results.read_text().splitlines(True)
        results.write_text("".join(lines[:-1]))
        self.assertNotIn("at most", sweep("run", self.bundle, "--device=cpu", "--no-cold", "-o", results))

    def test_two_devices_share_the_problems(self):
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            self.skipTest("two devices are two processors")
        results = self.work / "two.jsonl"
        devices = [f"--device=cpu@{n}" for n in processors[:2]]
        sweep("run", self.bundle, *devices, "--no-cold", "-o", results)
        records = journal.read_records(results)
        self.assertEqual(sorted(r["candidate"] for r in records), self.candidates)
        self.assertEqual({r["verdict"] for r in records}, {"ok"})
        self.assertEqual({r["device"] for r in records}, {d.split("=")[1] for d in devices})
        self.assertFalse((self.work / "two.jsonl.tasks").exists())

    def test_killed_tasks_lose_and_double_nothing(self):
        """The whole run is killed, its tasks with it; what they have on the disk is kept."""
        results = self.work / "killed.jsonl"
        devices = [f"--device=cpu@{n}" for n in sorted(os.sched_getaffinity(0))[:2]]
        line = command("run", self.bundle, *devices, "--executor=local:2", "--check-only", "-o", results)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        folder = self.work / "killed.jsonl.tasks"
        some = lambda: journal.read_records(results) + [r for p in folder.glob("*.jsonl") for r in journal.read_records(p)]
        while process.poll() is None and len(some()) < 4:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = {json.dumps(r) for r in some()}
        for path in folder.glob("*.jsonl"):
            with path.open("a") as file:
                file.write('{"candidate": "cut off')
        sweep(*line[1:])
        after = journal.read_records(results)
        self.assertLessEqual(before, {json.dumps(r) for r in after})
        self.assertEqual(sorted(r["candidate"] for r in after), self.candidates)

    def test_a_device_has_one_task_at_a_time(self):
        """Two workers and one device, and an executor that loses a task on its way."""

        class Lossy(concurrent.futures.ThreadPoolExecutor):
            lost = 0

            def submit(self, function, *arguments):
                future = super().submit(function, *arguments)
                if self.lost:
                    return future
                # It measures, and nobody hears of it: as if its process had died at the very end.
                self.lost = 1
                future.result()
                gone = concurrent.futures.Future()
                gone.set_exception(concurrent.futures.BrokenExecutor("a worker died"))
                return gone

        opened, held, most = bundle.Bundle(self.bundle), [], [0]
        self.addCleanup(opened.close)
        close = watch.DeviceLock.close

        class Counting(watch.DeviceLock):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                held.append(self)
                most[0] = max(most[0], len(held))

            def close(self):
                if self in held:
                    held.remove(self)
                close(self)

        results = self.work / "lossy.jsonl"
        with mock.patch.object(spread, "DeviceLock", Counting), Lossy(2) as executor:
            code = spread.run_spread(self.bundle, opened, ["cpu"], results, executor, say=lambda *_, **__: None, check_only=True)
        self.assertEqual((code, most[0], len(held)), (0, 1, 0))
        self.assertEqual(sorted(r["candidate"] for r in journal.read_records(results)), self.candidates)

    def test_a_task_that_was_given_up_may_live(self):
        """It writes a record yet, of another device, and that candidate is not measured again."""
        opened = bundle.Bundle(self.bundle)
        self.addCleanup(opened.close)
        folder, results = self.work / "lives.jsonl.tasks", self.work / "lives.jsonl"
        first, late = [c for c in opened.plan["candidates"] if c["problem"] == opened.plan["problems"][0]["name"]][:2]
        where = {"device": "another", "uuid": "", "driver": ""}
        record = lambda c: {"problem": {"name": c["problem"]}, "candidate": c["id"], "artifact": c["artifact"], "verdict": "ok", **where}
        other = journal.Journal(folder / f"{first['problem']}.jsonl")
        other.add(record(first))

        def end():
            other.add(record(late))
            other.close()

        timer = threading.Timer(2, end)
        timer.start()
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            code = spread.run_spread(self.bundle, opened, ["cpu"], results, executor, say=lambda *_, **__: None, check_only=True)
        timer.join()
        self.assertEqual(code, 0)
        found = {r["candidate"]: r["device"] for r in journal.read_records(results)}
        self.assertEqual(sorted(found), self.candidates)
        self.assertEqual(len(journal.read_records(results)), len(found))
        self.assertEqual({c for c, device in found.items() if device == "another"}, {first["id"], late["id"]})

    def test_what_is_not_there_is_said(self):
        said = sweep("run", self.bundle, "--device=cuda:7", "--device=cuda:8", "-o", self.work / "none.jsonl", code=1)
        self.assertRegex(said, "has no cuda:7 or cuda:8; it has .*cpu")
        said = subprocess.run(command("run", self.bundle, "--device=cpu@900"), capture_output=True, text=True, check=False)
        self.assertIn("this process may run on", said.stderr)


class Resources(unittest.TestCase):
    def test_records_have_what_the_device_says(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            sweep("gemm", "--m=64", "--n=32", "--k=32", "--target=cuda:sm_80", "--candidates=2", "-o", work / "plan")
            sweep("compile", work / "plan")
            sweep("run", work / "plan.twb", "--device=ptxsim", "--check-only")
            records = list(journal.read_records(work / "plan.jsonl"))
            self.assertEqual(len(records), 2)
            for r in records:
                self.assertEqual(r["verdict"], "ok")
                self.assertNotIn("resources", r["unknown"])
                launched = {line.split()[2] for line in r["launches"]}
                self.assertEqual({kernel["variant"] for kernel in r["resources"]}, launched)
                for kernel in r["resources"]:
                    # The simulator assigns no registers.
                    self.assertNotIn("registers", kernel)
                    self.assertGreater(kernel["shared_bytes"] + kernel["dynamic_shared_bytes"], 0)
                    self.assertGreaterEqual(kernel["max_threads"], 32)


class OldMachines(unittest.TestCase):
    """What travels in a bundle runs with glibc 2.28, the libstdc++ of g++ 8, and Python 3.8 with its standard library."""

    LAST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11)}

    def test_symbols(self):
        library = BUILD / "lib/libtilewright.so"
        for path in [library, BUILD / "lib/ptxsim/libcuda.so.1", *bundle.needed_by(library)]:
            said = subprocess.run(["objdump", "-T", str(path)], capture_output=True, text=True, check=True).stdout
            self.assertIn("GLIBC_2.", said)
            for line in said.splitlines():
                asked = re.search(r"\*UND\*.*\((\w+?)_([0-9.]+)\)\s+(\S+)", line)
                if asked and asked[1] in self.LAST:
                    version = tuple(map(int, asked[2].split(".")))
                    self.assertLessEqual(version, self.LAST[asked[1]], f"{path}: {line}")

    def test_grammar_and_imports(self):
        for path in (ROOT / "python/src/tilewright_sweep").rglob("*.py"):
            tree = ast.parse(path.read_text(), feature_version=(3, 8))
            for node in tree.body:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) else []
                for name in names:
                    self.assertIn(name.split(".")[0], {*sys.stdlib_module_names, "tilewright_sweep"}, path)

    def test_an_old_python(self):
        old = next((name for name in ("python3.8", "python3.9") if self.works(name)), None)
        if not old:
            self.skipTest("neither python3.8 nor python3.9 here")
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            sweep("transpose", "--rows=8", "--columns=8", "--target=cpu:native", "--candidates=2", "-o", work / "plan")
            sweep("compile", work / "plan")
            for line in (["run", "--device=cpu", "--check-only", "-o", "r.jsonl"], ["best", "r.jsonl"], ["report", "r.jsonl"]):
                done = subprocess.run([old, "-I", "-S", "plan.twb", *line], capture_output=True, text=True, cwd=folder, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @staticmethod
    def works(name):
        return bool(shutil.which(name)) and not subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode

    def test_waits_end_in_time(self):
        """Deadlines of the steady clock, which the library waits for by the system's."""
        library = runtime.Library(str(BUILD / "lib/libtilewright.so"))
        device = library.open("cpu")
        stream, buffer = device.stream(), device.buffer(1 << 28)
        for word in range(8):
            buffer.fill(stream, word)
        begin = time.monotonic()
        stream.set_timeout(1e-3)
        with self.assertRaisesRegex(runtime.Error, "within"):
            stream.synchronize()
        self.assertLess(time.monotonic() - begin, 30)


class Surroundings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        cls.nvml = cls.work / "libfake-nvml.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(cls.nvml), str(HERE / "fake_nvml.c")], check=True)

    def look(self, uuid=UUID, device="cuda:0", **environment):
        with mock.patch.dict(os.environ, {k: str(v) for k, v in environment.items()}):
            with surroundings.Surroundings(device, uuid).watch() as seen:
                pass
            return seen.summary()

    def test_nvml(self):
        seen = self.look(TILEWRIGHT_NVML=self.nvml)
        self.assertEqual(seen["mhz"][1] - seen["mhz"][0], 15 * (seen["looks"] - 1))
        self.assertEqual(seen["memory_mhz"], [1215, 1215])
        self.assertEqual(seen["watts"], [251.5, 251.5])
        self.assertEqual(seen["celsius"], [61, 61])
        self.assertEqual(seen["throttle"], ["heat, by software", "power cap"])
        self.assertEqual(seen["processes_on_device"], 2)
        self.assertEqual(set(seen["unknown"]), {"governor"})

    def test_nvml_that_does_not_say(self):
        seen = self.look(TILEWRIGHT_NVML=self.nvml, FAKE_NVML_POWER="no")
        self.assertIsNone(seen["watts"])
        self.assertEqual(seen["unknown"]["watts"], "nvmlDeviceGetPowerUsage: Not Supported")
        self.assertEqual(seen["celsius"], [61, 61])

    def smi(self, text):
        path = self.work / "bin"
        path.mkdir(exist_ok=True)
        (path / "nvidia-smi").write_text(text)
        (path / "nvidia-smi").chmod(0o755)
        return {"TILEWRIGHT_NVML": "/nowhere/libnvidia-ml.so", "PATH": f"{path}:{os.environ['PATH']}"}

    def test_nvidia_smi_where_there_is_no_nvml(self):
        seen = self.look(**self.smi("""#!/bin/sh
case "$*" in
*GPU-00112233-4455-6677-8899-aabbccddeeff*query-gpu=uuid*) echo GPU-00112233-4455-6677-8899-aabbccddeeff ;;
*query-gpu=clocks.sm*) echo "1380, 1215, [N/A], 58, 0x0000000000000004" ;;
*query-compute-apps*) echo 77 ;;
*) echo "No devices were found"; exit 6 ;;
esac
"""))
        self.assertEqual((seen["mhz"], seen["celsius"], seen["processes_on_device"]), ([1380, 1380], [58, 58], 1))
        self.assertEqual(seen["throttle"], ["power cap"])
        self.assertIsNone(seen["watts"])
        self.assertEqual(seen["unknown"]["watts"], "nvidia-smi says '[N/A]'")

    def test_neither(self):
        seen = self.look(**self.smi("#!/bin/sh\necho No devices were found\nexit 6\n"))
        self.assertIsNone(seen["mhz"])
        self.assertRegex(seen["unknown"]["mhz"], "no NVML: .*; nvidia-smi: No devices were found")
        self.assertIn("does not say which", self.look(uuid="")["unknown"]["throttle"])

    def test_processors(self):
        for cpu in os.sched_getaffinity(0):
            folder = self.work / f"cpu{cpu}/cpufreq"
            folder.mkdir(parents=True)
            (folder / "scaling_cur_freq").write_text(f"{2000000 + 1000 * cpu}\n")
            (folder / "scaling_governor").write_text("powersave\n")
        with mock.patch.object(surroundings, "CPUS", self.work):
            seen = self.look(device="cpu", uuid="")
        cpus = os.sched_getaffinity(0)
        self.assertEqual(seen["mhz"], [2000 + min(cpus), 2000 + max(cpus)])
        self.assertEqual(seen["governor"], "powersave")


class Slices(unittest.TestCase):
    """MIG slices of one card: each process sees one, as cuda:0, and they are told apart by their UUIDs alone."""

    UUIDS = [UUID[:-2] + end for end in ("00", "01")]

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        for name in ("fake_mig", "fake_nvml"):
            command = ["cc", "-shared", "-fPIC", "-o", str(cls.work / f"{name}.so"), str(HERE / f"{name}.c"), "-ldl"]
            subprocess.run(command, check=True)
        tool = [str(BUILD / "bin/tilewright-sweep")]
        plan = ["transpose", "--rows=8", "--columns=8", "--target=cuda:sm_80", "--candidates=2", "-o", str(cls.work / "plan")]
        subprocess.run(tool + plan, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(tool + ["compile", str(cls.work / "plan")], check=True, stdout=subprocess.DEVNULL)

    def run_on(self, number, *more):
        environment = {
            **os.environ,
            "TILEWRIGHT_CUDA_LIBRARY": str(self.work / "fake_mig.so"),
            "FAKE_MIG_DRIVER": str(BUILD / "lib/ptxsim/libcuda.so.1"),
            "FAKE_MIG_SLICE": str(number),
        }
        command = [str(BUILD / "bin/tilewright-sweep"), "run", str(self.work / "plan.twb"), "--device=cuda:0", "--check-only", *more]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def test_records_and_database(self):
        results = self.work / "both.jsonl"
        for number in (0, 1, 0):
            done = self.run_on(number, "-o", str(results))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records = journal.read_records(results)
        # Each slice has measured each candidate, once.
        found = sorted((r["candidate"], r["uuid"]) for r in records)
        self.assertEqual(found, sorted({(r["candidate"], uuid) for r in records for uuid in self.UUIDS}))
        self.assertEqual({r["device"] for r in records}, {"cuda:0"})
        self.assertEqual(len({r["driver"] for r in records}), 1)
        times = {"ratio": 1.5, "ratio_low": 1.4, "ratio_high": 1.6, "min_s": 1.0, "baseline_min_s": 1.5, "median_s": 1.0}
        timed = [{**r, **times, "final": True} for r in records]
        with self.assertRaisesRegex(best.MixError, f"of 2 devices: .*{self.UUIDS[0]}.*{self.UUIDS[1]}.*--device, or say --mix"):
            best.best_records(timed)
        one = best.best_records([r for r in timed if r["uuid"] == self.UUIDS[1]])
        self.assertEqual([r["uuid"] for r in one], self.UUIDS[1:])

    def test_lock(self):
        lock = watch.DeviceLock("cuda:0", self.UUIDS[0])
        self.addCleanup(lock.close)
        done = self.run_on(0, "-o", str(self.work / "locked.jsonl"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("is being measured by another task", done.stderr)
        done = self.run_on(1, "-o", str(self.work / "free.jsonl"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_surroundings(self):
        """Processes are the slice's, clocks the card's."""
        with mock.patch.dict(os.environ, {"TILEWRIGHT_NVML": str(self.work / "fake_nvml.so")}):
            for uuid, processes in ((self.UUIDS[0], 1), (self.UUIDS[1], 1), (UUID, 2)):
                seen = surroundings.Surroundings("cuda:0", uuid).now()
                self.assertEqual((seen["processes_on_device"], seen["memory_mhz"], seen["watts"]), (processes, 1215, 251.5))
            unknown = surroundings.Surroundings("cuda:0", UUID[:-2] + "02").unknown["mhz"]
            self.assertIn("nvmlDeviceGetHandleByUUID: Not Found", unknown)


class Libraries(unittest.TestCase):
    """Products by cuBLAS, which is made up and looks at what it is asked, over the simulator's driver."""

    def test_cublas(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        fake = pathlib.Path(folder.name) / "libcublas.so.99"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(fake), str(HERE / "fake_cublas.c")], check=True)
        names = {"TILEWRIGHT_CUBLAS": str(fake), "TILEWRIGHT_CUDA_LIBRARY": str(BUILD / "lib/ptxsim/libcuda.so.1")}
        with mock.patch.dict(os.environ, names):
            worker = watch.Worker(60)
            self.addCleanup(worker.close)
            self.assertTrue(worker.ask(do="open", library=str(BUILD / "lib/libtilewright.so"), device="cuda")["ok"])
            ask = lambda types: worker.ask(do="library_product", id="x", types=types, size=64, seconds=0.01)
            for types in ("f16:f32", "f16:f16", "bf16:f32", "f32:f32", "f64:f64", "i8:i32"):
                said = ask(types)
                self.assertEqual((said["ok"], said.get("name")), (True, "libcublas.so.99"), said)
                self.assertGreater(said["seconds"], 0)
            self.assertIn("not asked for products of f8E5M2:f32", ask("f8E5M2:f32")["error"])
            self.assertIn("cublasGemmEx answered 7", ask("i32:i32")["error"])

    def test_none(self):
        with mock.patch.dict(os.environ, {"TILEWRIGHT_OPENBLAS": "/nowhere/libopenblas.so"}):
            worker = watch.Worker(60)
            self.addCleanup(worker.close)
            worker.ask(do="open", library=str(BUILD / "lib/libtilewright.so"), device="cpu")
            said = worker.ask(do="library_product", id="x", types="f32:f32", size=64, seconds=0.01)
            self.assertRegex(said["error"], "no library: .*; TILEWRIGHT_OPENBLAS can name one")


class Late(unittest.TestCase):
    def test_times_have_their_own_count(self):
        """Of samples that the host was too late for; those of before are another request's."""
        measurer = measure.Measurer(lambda _: None)
        measurer.stream, measurer.calls = None, {"default": object(), "other": object()}
        measurer.flushed = mock.Mock()

        class Batches:
            late = {id(measurer.calls["default"]): 99}

            def time(self, call, length, turn=0, name=None, warm=True):
                self.late[name] = self.late.get(name, 0) + (name == id(measurer.calls["other"]))
                return 1e-3, 1e-3

        measurer.batches = Batches()
        times = measurer.time({"ids": ["default", "other"], "seconds": 0})["times"]
        self.assertEqual({name: (t["late"], t["count"]) for name, t in times.items()}, {"default": (0, 5), "other": (5, 5)})
        cold = measurer.cold({"ids": ["default", "other"]})["times"]
        self.assertEqual({name: t["cold_late"] for name, t in cold.items()}, {"default": 0, "other": 5})
        two = run.over_processes([{**times["other"], "baseline_min_s": 1e-3}] * 2)
        self.assertEqual((two["late"], two["count"]), (10, 10))


class Page(unittest.TestCase):
    """What a report says of records that are made up."""

    def record(self, config, **more):
        most = {**Roofline.MOST, "bytes_per_s": [[1000, 4e9], [100000, 1e9]]}
        made = {
            "candidate": config, "problem": {"name": "gemm_1", "op": "gemm", "dims": {"batch": 0}, "inputs": []}, "kernel": "k",
            "config": config, "tuning": {"default": "block = [8, 8, 8]"}, "verdict": "ok", "final": True, "median_s": 1e-3,
            "min_s": 9e-4, "baseline_min_s": 9e-4, "spread": 0.1, "ratio": 1.0, "ratio_low": 0.9, "ratio_high": 1.1, "flops_per_s": 1e9,
            "bytes_per_s": 1e8, "ceilings": most, "roofline": ceilings.roofline(most, 1e6, 1e5, 1e-3), "device": "cuda:0", "uuid": UUID,
            "driver": "A GPU, 1", "host": "h", "target": "cuda", "compiler": {"version": "1", "sha256": "c"}, "time": "t",
            "surroundings": {"load": [1, 1], "processors": 8, "throttle": [], "processes_on_device": 1}}  # fmt: skip
        return {**made, **more}

    def page(self, *records):
        return report.page(list(records), [], None)

    def test_shares(self):
        page = self.page(self.record("default"), self.record("block = [8, 16, 8]"))
        self.assertIn("How much of the device is used", page)
        self.assertIn("<svg", page)
        self.assertIn("80 GFLOP/s (1024³)", page)
        self.assertIn(">10%<", page)  # 1e5 bytes at 1e9 a second, of a millisecond
        self.assertNotIn("busy", page)
        self.assertIn("For 0 of 1 problems", page)
        self.assertIn('text-anchor="end">f32:f32</text>', page)  # whose peak a line is
        self.assertNotIn("faster than the measured peak", page)

    def test_a_share_beyond_the_peak_is_marked(self):
        most = self.record("default")["ceilings"]
        page = self.page(self.record("default", roofline=ceilings.roofline(most, 1e9, 10, 5e-3)))
        self.assertIn(">200%<", page)
        self.assertIn("faster than the measured peak", page)

    def test_what_a_config_takes(self):
        kernel = {"registers": 128, "local_bytes": 12, "shared_bytes": 1024, "dynamic_shared_bytes": 48128}
        page = self.page(self.record("default", resources=[kernel, {**kernel, "registers": 40}]))
        self.assertIn("128 registers, 48 KiB shared, 12 bytes in local memory", page)
        # Of a simulator, or of a driver that says less.
        page = self.page(self.record("default", resources=[{"shared_bytes": 1024, "dynamic_shared_bytes": 0}]))
        self.assertIn("<br>1 KiB shared</td>", page)

    def test_what_makes_figures_doubtful(self):
        around = {"load": [1, 30.5], "processors": 8, "throttle": ["idle", "power cap"], "processes_on_device": 3}
        page = self.page(self.record("default"), self.record("b", surroundings=around))
        self.assertIn("busy with other work in 1 of 2 measurements (load up to 30.5 on 8 processors)", page)
        self.assertIn("Up to 3 processes used the device in 1 of 2", page)
        self.assertIn("held down by power cap in 1 of 2", page)
        self.assertNotIn("by idle", page)

    def test_a_host_that_was_late(self):
        self.assertIn("10%, host late in 30 %", self.page(self.record("default", count=10, late=3)))
        self.assertNotIn("host late", self.page(self.record("default", count=10, late=1)))

    def test_devices_of_two_kinds_are_two_rows(self):
        other = {"device": "cpu", "driver": "A CPU"}
        page = self.page(self.record("default"), self.record("default", **other))
        self.assertIn("gemm_1 on cuda:0", page)
        self.assertIn("gemm_1 on cpu", page)
        # Of one kind they share the problems.
        self.assertNotIn(" on cuda", self.page(self.record("default"), self.record("b", device="cuda:1")))

    def test_why_the_default_stands(self):
        page = self.page(self.record("default"), self.record("b", ratio=5.0, ratio_low=2.0, ratio_high=9.0, min_s=1.8e-3))
        self.assertIn("nearest: 5.00×, half of the pairs 2.00 to 9.00; by the fastest calls 0.50×", page)

    def test_pictures(self):
        """Each that there is something to show of, beside the page; the plane of predicted times is on the page, too."""
        guess = {"chip": "a100", "seconds": 2e-3, "resource": "memory", "registers": 32, "spills": 0}
        now = [self.record("default", predicted=guess), self.record("block = [8, 16, 8]", predicted={**guess, "seconds": 5e-4})]
        before = [{**r, "median_s": 0.5e-3} for r in now]
        line = {"problem": {"function": "f"}, "median_s": 1e-3, "peers": {"cublas": {"median_s": 2e-3, "ratio": 2.0}}}
        page = report.page(now, [line], before)
        self.assertIn('aria-label="predicted beside measured times"', page)
        self.assertIn("predicted for a100, not measured", page)
        # Two points of the plane, with what they are.
        self.assertEqual(len(re.findall("<circle [^>]*><title>gemm_1: measured 1 ms, predicted ", page)), 2)
        self.assertIn("1 regression.", page)
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            written = pictures.draw(report.by_problem(now), folder, [line], report.by_problem(before))
            self.assertEqual(written, ["tuned.png", "roofline.png", "peers.png", "predicted.png", "history.png"])
            for name in written:
                self.assertEqual((folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        with tempfile.TemporaryDirectory() as folder:
            alone = {k: v for k, v in now[0].items() if k not in ("ceilings", "roofline", "predicted")}
            self.assertEqual(pictures.draw(report.by_problem([alone]), pathlib.Path(folder)), ["tuned.png"])

    def test_earlier_records(self):
        """Without what records have had since."""
        old = [self.record(c) for c in ("default", "b")]
        for r in old:
            for member in ("ceilings", "roofline", "surroundings", "baseline_min_s"):
                del r[member]
        self.assertNotIn("How much of the device", self.page(*old))


class Roofline(unittest.TestCase):
    MOST = {"types": "f32:f32", "product_flops_per_s": 8e10, "product_size": 1024, "fma_flops_per_s": 1e11, "library": None, "library_flops_per_s": None, "library_unknown": "no",
            "bytes_per_s": [[1000, 4e9], [10000, 9e9], [100000, 1e9]], "memory_bytes_per_s": 1e9}  # fmt: skip

    def test_bounds(self):
        got = ceilings.roofline(self.MOST, 1e9, 1e5, 0.02, cache=50000)
        self.assertEqual((got["bound"], got["share"], got["intensity"]), ("operations", 0.5, 1e4))
        got = ceilings.roofline(self.MOST, 0, 200000, 0.001, cache=50000)
        self.assertEqual((got["bound"], got["share"], got["intensity"]), ("memory", 0.2, None))
        # What is launched is faster with more to do: a small one is not held against its own step alone.
        got = ceilings.roofline(self.MOST, 1, 500, 1e-6, cache=50000)
        self.assertEqual((got["bound"], got["bytes_per_s"]), ("cache", 9e9))
        self.assertIsNone(ceilings.roofline({**self.MOST, "bytes_per_s": []}, None, 10, 1.0))

    def test_types(self):
        for entry, types in (
            ({"op": "gemm", "m": 8, "n": 8, "k": 8, "types": "f16"}, "f16:f16"),
            ({"op": "attention", "heads": 2, "queries": 8, "depth": 16}, "f16:f32"),
            ({"op": "softmax", "rows": 8, "columns": 8, "types": "bf16"}, "f32:f32"),
            ({"op": "reduce", "rows": 8, "columns": 8, "types": "i8"}, "i32:i32"),
            ({"op": "elementwise", "rows": 8, "columns": 8, "types": "f64"}, "f64:f64"),
        ):
            self.assertEqual(ceilings.types_of(problems.make_problem(entry)), types)

    def test_what_fails_is_said_and_the_rest_is_measured(self):
        entry = lambda name, kind, flops, moved, **more: {"function": name, "kind": kind, "flops": flops, "bytes": moved,
                                                         "artifact": "a", **more}  # fmt: skip
        entries = [
            entry("t1", "triad", 0, 1000),
            entry("t2", "triad", 0, 100000),
            entry("p1", "product", 1000, 0, types="i32:i32", size=8, error="error: no", artifact=None),
            entry("p2", "product", 1e9, 0, types="f32:f32", size=16),
            entry("p3", "product", 1e13, 0, types="f32:f32", size=32),
        ]
        asked = []

        def ask(entry, _):
            asked.append(entry["function"])
            return {"t1": 1e-6, "t2": 1e-3, "p2": 0.5}[entry["function"]]

        def library(types, size, _):
            asked.append(f"{types} {size}")
            return 0.25, "libblas"

        got = ceilings.measure(entries, ask, library, lambda: asked.append("new"), ["f32:f32", "i32:i32"])
        # p3 would take 5000 s.
        self.assertEqual(asked, ["t1", "t2", "p2", "new", "t1", "t2", "p2", "new", "f32:f32 16", "new"])
        self.assertEqual(got["bytes_per_s"], [[1000, 1e9], [100000, 1e8]])
        self.assertEqual(got["flops_per_s"], {"f32:f32": {"product": 2e9, "size": 16, "library": 4e9, "name": "libblas"}, "i32:i32": {}})
        self.assertEqual(ceilings.of_types(got, "i32:i32")["unknown"], "error: no")
        self.assertNotIn("unknown", ceilings.of_types(got, "f32:f32"))
        self.assertEqual(ceilings.highest(ceilings.of_types(got, "f32:f32")), 4e9)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
