# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session on a GPU that is borrowed: what can be asked of it, in steps of at most eight minutes, printing as it goes.

    python3 on-gpu.twb session --device=cuda [STEP[=MINUTES]…]

    build    the runtime that travelled, or where that does not run a new one out of its sources (C++ compiler, CMake)
    cts      the drivers' conformance suite
    e2e      the compiled end-to-end cases against the oracle
    confirm  what the PTX simulator believes of a GPU, asked of this one (needs a C++ compiler)
    sweep    the sweeps that travelled
    ladder   products on Hopper, technique by technique, beside cuBLAS and Triton
    bench    the suites beside PyTorch and Triton, on the same inputs, by turns (--python with PyTorch)

A step that was cut off goes on where it stopped when it is started again, on another machine too where the results went
along; a kernel that hangs or takes the device along costs its own verdict. What comes back is a folder of few files of
lines: machine.txt, cts.jsonl, e2e.jsonl, confirm.jsonl, sweep-NAME.jsonl, ladder.jsonl, bench.jsonl, steps.log, summary.txt.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

from tilewright_sweep import cases
from tilewright_sweep.build import MASK
from tilewright_sweep.measure import end_with_parent

STEPS = ("build", "cts", "e2e", "confirm", "sweep", "ladder", "bench")
#: Of bench/run.py and ladder/run.py: started again they go on behind what lost the device.
_LOST = 3
#: In a session's folder: the hash of the archive, and what it had.
_MARK = ".unpacked"


@contextlib.contextmanager
def _uninterrupted():
    """An interrupt waits until what is being started is known to whoever has to end it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
    if came:
        raise KeyboardInterrupt


class SessionError(RuntimeError):
    pass


def is_session(path):
    if not zipfile.is_zipfile(str(path)):
        return False
    with zipfile.ZipFile(str(path)) as archive:
        return "session.json" in archive.namelist()


def _strangers(folder, names):
    """Files of a session's folder that neither its archive, which had `names`, nor a step of it has put there: results,
    as names within the folder."""
    found = []
    for place, folders, files in os.walk(str(folder)):
        relative = pathlib.Path(place).relative_to(folder)
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = [name for name in folders if name not in links and name != "__pycache__"]
        if relative == pathlib.Path():
            folders[:] = [name for name in folders if name != "build"]
            files = [name for name in files if name != _MARK]
        found += [relative / name for name in files + links]
    return [name for name in found if name.as_posix() not in names]


def _replace(folder, fresh, names):
    """A session's folder by that of another one, with what nobody has unpacked into it."""
    before = (folder / _MARK).read_text().split("\n")[1:]
    if not before:
        raise SessionError(f"{folder} does not say what of it was unpacked; move it")
    kept = _strangers(folder, set(before))
    lost = next((k for k in kept if os.path.lexists(str(fresh / k)) or names & {p.as_posix() for p in k.parents}), None)
    if lost:
        raise SessionError(f"{folder / lost} is in the way, and no session has put it there; move it")
    aside = fresh.with_name(f"{fresh.name}.before")
    os.replace(str(folder), str(aside))
    os.replace(str(fresh), str(folder))
    for name in kept:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(str(aside / name), str(folder / name))
    shutil.rmtree(str(aside))


def unpack(path, folder):
    """The file's content in `folder`, once; with what may be executed. Of another session what was unpacked goes, and
    what else lies there stays."""
    folder = pathlib.Path(folder).resolve()
    mark, name = folder / _MARK, hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    if mark.exists() and mark.read_text().split("\n")[0] == name:
        return folder
    if folder.exists() and not mark.exists() and any(folder.iterdir()):
        raise SessionError(f"{folder} is in the way: it is no session that was unpacked; move it")
    fresh = pathlib.Path(tempfile.mkdtemp(dir=str(folder.parent), prefix=f"{folder.name}.part"))
    try:
        with zipfile.ZipFile(str(path)) as archive:
            archive.extractall(str(fresh))
            names = archive.namelist()
            for info in archive.infolist():
                os.chmod(str(fresh / info.filename), (info.external_attr >> 16) & 0o777 or 0o644)
        os.chmod(str(fresh), 0o777 & ~MASK)
        (fresh / _MARK).write_text("\n".join([name, *names]))
        if mark.exists():
            _replace(folder, fresh, set(names))
        else:
            os.replace(str(fresh), str(folder))
    except BaseException:
        shutil.rmtree(str(fresh), ignore_errors=True)
        raise
    return folder


def _kill(process):
    """With all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Session:
    def __init__(self, folder, results, devices, minutes, python, seconds=None, slow_peers=False):
        """`minutes` of a step; `seconds` of measuring per contender (those of the tools); `slow_peers`: of bench."""
        self.folder, self.results = pathlib.Path(folder), pathlib.Path(results).resolve()
        self.seconds, self.python, self.named = 60 * minutes, python, devices
        self.timing = [f"--seconds={seconds:g}"] if seconds else []
        self.peers = ["--slow-peers"] * slow_peers
        self.results.mkdir(parents=True, exist_ok=True)
        self.running, self.stopped = set(), False
        built = self.folder / "built"
        self.place = built if self._runs(built) else self.folder / "build"

    def environment(self):
        needs = [str(self.folder / "built/lib/needs")] + os.environ.get("LD_LIBRARY_PATH", "").split(":")
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(x for x in needs if x)}

    def _runs(self, place):
        tool = place / "bin/tilewright-run"
        return (
            tool.exists()
            and subprocess.run(
                [str(tool), "--list-devices"],
                env=self.environment(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ).returncode
            == 0
        )

    def tool(self, name):
        return str(self.place / "bin" / name)

    def devices(self):
        """Those that were named; else cuda, and Vulkan where it is a GPU's."""
        if self.named:
            return self.named
        said = self.ask([self.tool("tilewright-run"), "--list-devices"])
        vulkan = [
            x for x in said.splitlines() if x.startswith("vulkan") and "not available" not in x and "llvmpipe" not in x
        ]
        return ["cuda"] + ["vulkan"] * bool(vulkan)

    def ask(self, command):
        try:
            return subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment()
            ).stdout.decode(errors="replace")
        except OSError:
            return ""

    def do(self, command, seconds=None, output=None):
        """Its exit code, 124 where it was ended for taking too long; what it says is shown and kept."""
        if self.stopped:
            return 124
        end, process = None, None

        def stop():
            nonlocal end
            end = 124
            _kill(process)

        timer = threading.Timer(max(1, seconds or self.seconds), stop)
        with open(str(self.results / "steps.log"), "ab") as log:
            try:
                with _uninterrupted():
                    process = subprocess.Popen(
                        [str(x) for x in command],
                        cwd=str(self.folder),
                        env=self.environment(),
                        stdout=output or subprocess.PIPE,
                        stderr=subprocess.STDOUT if not output else None,
                        start_new_session=True,
                        preexec_fn=end_with_parent,
                    )
                    self.running.add(process)
                    timer.start()
                if self.stopped:  # while it was being started
                    stop()
                for line in process.stdout or ():
                    log.write(line)
                    sys.stdout.write(line.decode(errors="replace"))
                    sys.stdout.flush()
                code = process.wait()
            except BaseException:
                self.stop()
                if process:
                    process.wait()
                raise
            finally:
                timer.cancel()
                self.running.discard(process)
        return end or code

    def stop(self):
        """Ends what runs, and begins nothing more. What `do` starts has a session of its own, which no Ctrl-C reaches."""
        self.stopped = True
        for process in list(self.running):
            _kill(process)

    def again(self, command):
        """Until it ends by itself, or the step's time is over."""
        end, code = time.monotonic() + self.seconds, 124
        while time.monotonic() < end:
            code = self.do(command, end - time.monotonic())
            if code != _LOST and code >= 0:
                break
        return code

    def build(self):
        code = 0
        if not self._runs(self.place):
            commands = [
                [
                    "cmake",
                    "-S",
                    "gpu-runtime",
                    "-B",
                    "build",
                    "-DCMAKE_BUILD_TYPE=Release",
                    "-DBUILD_TESTING=OFF",
                    f"-DCMAKE_INCLUDE_PATH={self.folder}/include",
                ],
                [
                    "cmake",
                    "--build",
                    "build",
                    "-j",
                    os.cpu_count() or 1,
                    "--target",
                    "tilewright-e2e",
                    "tilewright-run",
                    "tilewright-cts",
                    "tilewright",
                ],
            ]
            code = next((c for c in map(self.do, commands) if c), 0)
        said = [
            self.ask(
                [
                    "nvidia-smi",
                    "--query-gpu=name,uuid,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit",
                    "--format=csv",
                ]
            ),
            self.ask([self.tool("tilewright-run"), "--list-devices"]),
            platform.platform() + "\n",
        ]
        text = f"runtime: {self.place.name}\n" + "".join(said)
        (self.results / "machine.txt").write_text(text)
        print(text, end="", flush=True)
        return code

    def cts(self):
        path, worst = self.results / "cts.jsonl", 0
        with open(str(path), "wb") as output:
            for device in self.devices():
                worst = max(
                    worst, self.do([self.tool("tilewright-cts"), f"--device={device}", "--json"], output=output)
                )
        lines = [json.loads(x) for x in path.read_text().splitlines() if x.startswith("{")]
        failed = [x for x in lines if x["verdict"] == "fail"]
        print(
            f"cts: {sum(x['verdict'] == 'pass' for x in lines)} passed, {len(failed)} failed, "
            f"{sum(x['verdict'] == 'skip' for x in lines)} skipped"
        )
        for line in failed:
            print(json.dumps(line)[:300])
        return worst

    def e2e(self):
        return cases.run(self, self.folder / "cases/cases.json", self.results / "e2e.jsonl")

    def confirm(self):
        return self.do(["bash", "confirm/hardware/confirm", self.results / "confirm.jsonl"])

    def sweep(self):
        """Each sweep on the first device, within the minutes of a step together."""
        found, worst = sorted((self.folder / "sweeps").glob("*.twb")), 0
        for number, path in enumerate(found):
            each = (self.seconds - 30) / len(found)
            worst = max(
                worst,
                self.do(
                    [
                        sys.executable,
                        path,
                        "run",
                        f"--device={self.devices()[0]}",
                        f"--budget={each:.0f}s",
                        "-o",
                        self.results / f"sweep-{path.stem}.jsonl",
                    ],
                    each + 30,
                ),
            )
        if not found:
            print("no sweep travelled: tilewright-sweep bundle --sweep=FILE")
        return worst

    def ladder(self):
        """Its first device alone; a slice after the other, until the minutes of a step are over."""
        if not (self.folder / "ladder/plan.json").exists():
            print("no ladder travelled: it is made where a target is cuda:sm_90a")
            return 0
        return self.again(
            [
                self.python,
                "-u",
                "ladder/run.py",
                *self.timing,
                f"--library={self.place}/lib/libtilewright.so",
                f"--device={self.devices()[0]}",
                f"--minutes={max(0.1, self.seconds / 60 - 1):g}",
                f"--json={self.results / 'ladder.jsonl'}",
            ]
        )

    def bench(self):
        worst = 0
        for device in self.devices():
            worst = max(
                worst,
                self.again(
                    [
                        self.python,
                        "-u",
                        "bench/run.py",
                        *self.timing,
                        *self.peers,
                        f"--library={self.place}/lib/libtilewright.so",
                        f"--device={device}",
                        f"--budget={max(1, self.seconds - 60)}",
                        f"--json={self.results / 'bench.jsonl'}",
                        *sorted((self.folder / "suites").iterdir()),
                    ]
                ),
            )
        return worst

    def run(self, steps):
        """0 where all went well; each step's code and time go to summary.txt."""
        failed = []
        if not steps or (steps[0][0] != "build" and not self._runs(self.place)):
            steps = [("build", self.seconds), *(steps or ((step, self.seconds) for step in STEPS[1:]))]
        for step, self.seconds in steps:
            begin = time.monotonic()
            print(f"=== {step}", flush=True)
            code = getattr(self, step)()
            line = f"{step}: exit code {code}, {time.monotonic() - begin:.0f} s"
            print(line, flush=True)
            with open(str(self.results / "summary.txt"), "a") as file:
                file.write(line + "\n")
            failed += [step] * bool(code)
            if step == "build" and code:
                break
        if failed:
            print("failed: " + " ".join(failed))
        return 2 if failed else 0


def _parse(step, minutes):
    """A step's name and its seconds."""
    name, given, text = step.partition("=")
    if name not in STEPS:
        raise SessionError(f"no step '{name}'; there are {', '.join(STEPS)}")
    try:
        minutes = float(text) if given else minutes
    except ValueError:
        minutes = 0
    if not 0 < minutes < 10000:
        raise SessionError(f"'{step}': minutes of a step are a number above 0, as in {name}=2.5")
    return name, 60 * minutes


def start(path, steps, results, devices, minutes, python, seconds=None, slow_peers=False):
    steps = [_parse(step, minutes) for step in steps]
    folder = unpack(path, pathlib.Path(path).resolve().with_suffix(""))
    return Session(folder, results, devices, minutes, python, seconds, slow_peers).run(steps)
