# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a figure depends on beside the kernel, looked at while it is measured: clocks, power, throttling, who else is there.

    with Surroundings("cuda:0", uuid).watch() as seen:
        ...measure...
    record["surroundings"] = seen.summary()

A GPU with a UUID is asked by NVML (libnvidia-ml.so.1, or what TILEWRIGHT_NVML names), else by nvidia-smi; a CPU by its
cpufreq. A MIG slice has processes of its own, and the clocks, power and heat of its card. What nobody says is None, and
`unknown` has the reason.
"""

import ctypes
import os
import pathlib
import subprocess
import threading

#: Looks while something is measured are so many seconds apart.
INTERVAL = 0.25
CPUS = pathlib.Path("/sys/devices/system/cpu")

#: Bits of NVML's reasons for a clock that is not the highest.
THROTTLE = {
    0x1: "idle",
    0x2: "clocks set by an application",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "heat, by software",
    0x40: "heat, by hardware",
    0x80: "power brake",
    0x100: "clocks set for a display",
}
#: Members that are numbers; a summary has the least and the most of each.
NUMBERS = ("load", "mhz", "memory_mhz", "watts", "celsius")
MEMBERS = (*NUMBERS, "throttle", "processes_on_device", "governor")


class Unknown(Exception):
    """The message says why."""


class _Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("instance", ctypes.c_uint), ("part", ctypes.c_uint)]


def reasons(mask):
    return [name for bit, name in THROTTLE.items() if mask & bit]


class Nvml:
    """A device of NVIDIA's management library: a card, or a MIG slice (`part`) of one."""

    def __init__(self, uuid):
        name = os.environ.get("TILEWRIGHT_NVML", "libnvidia-ml.so.1")
        try:
            self.c = ctypes.CDLL(name)
        except OSError as error:
            raise Unknown(f"no NVML: {error}") from None
        self.c.nvmlErrorString.restype = ctypes.c_char_p
        self._do("nvmlInit_v2")
        self.card = ctypes.c_void_p()
        try:
            self._do("nvmlDeviceGetHandleByUUID", name_of("GPU", uuid).encode(), ctypes.byref(self.card))
            self.part = self.card
        except Unknown as error:
            self.part = ctypes.c_void_p()
            try:
                self._do("nvmlDeviceGetHandleByUUID", name_of("MIG", uuid).encode(), ctypes.byref(self.part))
            except Unknown:
                raise error from None
            self._do("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", self.part, ctypes.byref(self.card))

    def _do(self, name, *arguments):
        try:
            code = getattr(self.c, name)(*arguments)
        except AttributeError:
            raise Unknown(f"this NVML has no {name}") from None
        if code:
            raise Unknown(f"{name}: {self.c.nvmlErrorString(code).decode()}")

    def _number(self, name, *which, kind=ctypes.c_uint):
        value = kind()
        self._do(name, self.card, *which, ctypes.byref(value))
        return value.value

    def _processes(self):
        count = ctypes.c_uint(256)
        found = (_Process * count.value)()
        self._do("nvmlDeviceGetComputeRunningProcesses_v3", self.part, ctypes.byref(count), found)
        return count.value

    def look(self):
        """{member: a function that gives it, or raises Unknown}."""
        throttled = "nvmlDeviceGetCurrentClocksThrottleReasons"
        return {
            "mhz": lambda: self._number("nvmlDeviceGetClockInfo", 1),
            "memory_mhz": lambda: self._number("nvmlDeviceGetClockInfo", 2),
            "watts": lambda: self._number("nvmlDeviceGetPowerUsage") / 1000,
            "celsius": lambda: self._number("nvmlDeviceGetTemperature", 0),
            "throttle": lambda: reasons(self._number(throttled, kind=ctypes.c_ulonglong)),
            "processes_on_device": self._processes,
        }


class Smi:
    """The same from nvidia-smi, a process for each look."""

    NAMES = {
        "mhz": "clocks.sm",
        "memory_mhz": "clocks.mem",
        "watts": "power.draw",
        "celsius": "temperature.gpu",
        "throttle": "clocks_throttle_reasons.active",
    }

    def __init__(self, uuid):
        self.card = name_of("GPU", uuid)
        self._ask("--query-gpu=uuid")

    def _ask(self, query):
        command = ["nvidia-smi", f"--id={self.card}", query, "--format=csv,noheader,nounits"]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=10)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unknown(f"nvidia-smi did not answer: {getattr(error, 'strerror', None) or error}") from None
        said = done.stdout.decode(errors="replace").strip()
        if done.returncode:
            raise Unknown(f"nvidia-smi: {said.splitlines()[0] if said else f'status {done.returncode}'}")
        return said

    def look(self):
        said = self._ask("--query-gpu=" + ",".join(self.NAMES.values())).split(", ")

        def number(place):
            text = said[place] if place < len(said) else ""
            try:
                return int(text, 16) if text.startswith("0x") else float(text)
            except ValueError:
                raise Unknown(f"nvidia-smi says '{text}'") from None

        found = {name: (lambda i=i: number(i)) for i, name in enumerate(self.NAMES)}
        found["throttle"] = lambda: reasons(number(list(self.NAMES).index("throttle")))
        found["processes_on_device"] = lambda: len(self._ask("--query-compute-apps=pid").split())
        return found


class Processors:
    """The CPUs that this process may run on."""

    def _frequencies(self):
        found = []
        for cpu in sorted(os.sched_getaffinity(0)):
            path = CPUS / f"cpu{cpu}/cpufreq/scaling_cur_freq"
            try:
                found.append(int(path.read_text()) / 1000)
            except (OSError, ValueError):
                raise Unknown(f"there is no {path}") from None
        return found

    def _governor(self):
        paths = [CPUS / f"cpu{cpu}/cpufreq/scaling_governor" for cpu in sorted(os.sched_getaffinity(0))]
        try:
            return ", ".join(sorted({path.read_text().strip() for path in paths}))
        except OSError:
            raise Unknown(f"there is no {paths[0]}") from None

    def look(self):
        def unsaid(what):
            def raising():
                raise Unknown(what)

            return raising

        return {
            "mhz": self._frequencies,
            "governor": self._governor,
            "memory_mhz": unsaid("Linux does not say"),
            "watts": unsaid("counters of power are root's alone"),
            "celsius": unsaid("not asked of CPUs"),
            "throttle": unsaid("not asked of CPUs; their clocks show it"),
            "processes_on_device": unsaid("see load"),
        }


def name_of(kind, uuid):
    """32 digits as NVIDIA writes them, of a "GPU" or "MIG" slice."""
    return f"{kind}-" + "-".join([uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]])


class Surroundings:
    def __init__(self, device, uuid):
        self.unknown, self.source = {}, None
        if device.split("@")[0] == "cpu":
            self.source = Processors()
            return
        self.unknown["governor"] = "CPUs have one"
        why = "the driver does not say which device it is"
        for kind in (Nvml, Smi) if len(uuid) == 32 else ():
            try:
                self.source = kind(uuid)
                return
            except Unknown as error:
                why = str(error) if kind is Nvml else f"{why}; {error}"
        self.unknown = {**dict.fromkeys([m for m in MEMBERS if m != "load"], why), **self.unknown}

    def now(self):
        """{member: value}; what is not known is missing, and in `unknown`."""
        found = {"load": round(os.getloadavg()[0], 2)}
        try:
            looks = self.source.look() if self.source else {}
        except Unknown as error:
            looks = {}
            self.unknown.setdefault("mhz", str(error))
        for name, look in looks.items():
            try:
                found[name] = look()
            except Unknown as error:
                self.unknown[name] = str(error)
        return found

    def watch(self):
        return _Watch(self)


class _Watch:
    """Looks before, after, and now and then between."""

    def __init__(self, around):
        self.around, self.seen, self.over = around, [], threading.Event()

    def __enter__(self):
        self.seen.append(self.around.now())
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()
        return self

    def _look(self):
        while not self.over.wait(INTERVAL):
            self.seen.append(self.around.now())

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.seen.append(self.around.now())

    def summary(self):
        """Of numbers the least and the most, of lists all that was seen."""
        made = {"looks": len(self.seen), "processors": os.cpu_count()}
        for name in MEMBERS:
            values = [seen[name] for seen in self.seen if name in seen]
            flat = [x for v in values for x in (v if isinstance(v, list) else [v])]
            if name in NUMBERS:
                made[name] = [min(flat), max(flat)] if flat else None
            elif name == "throttle":
                made[name] = sorted(set(flat)) if values else None
            else:
                made[name] = max(flat) if flat else None
        made["unknown"] = {name: why for name, why in self.around.unknown.items() if made.get(name) is None}
        return made
