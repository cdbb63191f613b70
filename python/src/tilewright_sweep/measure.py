# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that runs candidates. It may crash or hang: run.py watches it, and starts another one.

Requests are JSON lines on standard input, answers go to the file descriptor that the command line gives:

    {"do": "list", "library"}               -> {"uuids": {device: what tells it apart}}; opens none of them
    {"do": "open", "library", "device"}     -> {"device", "uuid", "driver", "version", "cache_bytes"}
    {"do": "ceiling", "id", "artifact", "function", "inputs", "seconds"}  -> {"seconds", "count"}: the fastest call
    {"do": "library_product", "id", "types", "size", "seconds"}  -> {"name", "seconds", "count"}
    {"do": "problem", "problem", "reference"}  inputs, and what is right
    {"do": "check", "id", "artifact"}       -> {"verdict", "check", "launches", "flops", "bytes"}; may be timed then
    {"do": "bind", "id", "artifact"}        may be timed, without a check: another process has made it
    {"do": "time", "ids", "seconds"}        -> {"times": {id: {...}}}; the first id is the baseline
    {"do": "cold", "ids"}                   the same, each call with empty caches; "late": samples that the host was late for
    {"do": "forget", "id"}

Between them {"now": ID} says which candidate runs next, so that the one that did not come back is known.
"""

import ctypes
import json
import os
import pathlib
import signal
import sys
import time

from tilewright_sweep import libraries, runtime, values, watch
from tilewright_sweep.contest import Batches, percentile

#: A sample is a batch of calls that takes at least so long, for the clock's steps not to show.
BATCH_SECONDS = 2e-4
LEAST_SAMPLES = 5
#: The fastest of several is what a clock's slip would be taken for: longer.
CEILING_SECONDS = 2e-3
#: A reference program takes a second for some 1e9 operations. What has more is held against the default's result.
MOST_REFERENCE_FLOPS = 4e9
#: Different inputs that results are held against.
CHECKS = 2


def cache_bytes(device):
    """Of the last cache; None where nobody says."""
    size = device.fact("l2_cache")
    if device.name != "cpu":
        return size if size > 0 else None
    folder = pathlib.Path(f"/sys/devices/system/cpu/cpu{min(os.sched_getaffinity(0))}/cache")
    found = [(path / "size").read_text().strip() for path in folder.glob("index*")]
    return max((int(text[:-1]) << {"K": 10, "M": 20}[text[-1]] for text in found), default=None)


def flush_bytes(device):
    """Twice the last cache, so that nothing of it is left; of a device that does not say, more than most have."""
    size = cache_bytes(device)
    return min(max(2 * size, 1 << 22), 1 << 30) // 4096 * 4096 if size else 1 << 28


class Measurer:
    def __init__(self, answer):
        self.answer, self.calls, self.flushed = answer, {}, None

    def _load(self, request):
        for path in sorted((pathlib.Path(request["library"]).parent / "needs").glob("*")):
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)  # found by its name when the library asks for it
        self.library = runtime.Library(request["library"])

    def list(self, request):
        self._load(request)
        return {"uuids": self.library.uuids()}

    def open(self, request):
        wanted = watch.processors_of(request["device"])
        if wanted:
            os.sched_setaffinity(0, wanted)  # before the library counts them
        self._load(request)
        self.device = self.library.open("cpu" if wanted else request["device"])
        self.host = self.device if self.device.name == "cpu" else self.library.open("cpu")
        self.stream = self.device.stream()
        self.batches = Batches(self.device, self.stream)
        return {
            "device": request["device"] if wanted else self.device.name,
            "uuid": self.device.uuid,
            "driver": self.device.description,
            "version": self.library.version,
            "cache_bytes": cache_bytes(self.device),
        }

    def _fill(self, view):
        """A few random bytes, again and again."""
        some = values.make_input(f"{1 << 16}x{view.dtype}", 1, False)
        view.write(self.stream, (some * (view.size // len(some) + 1))[: view.size])

    def _fastest(self, request, batch):
        """The fastest of several calls; a ceiling is no mean. `batch(count)`: the seconds of a call of so many."""
        batch(1)
        length = max(1, int(CEILING_SECONDS / batch(1)))
        samples, end = [], time.perf_counter() + request["seconds"]
        while len(samples) < LEAST_SAMPLES or time.perf_counter() < end:
            self.answer({"now": request["id"]})
            samples.append(batch(length))
        return {"seconds": min(samples), "count": len(samples)}

    def ceiling(self, request):
        views = [self.device.view(dtype, dims) for dims, dtype in map(values.parse_type, request["inputs"])]
        for view in views:
            self._fill(view)
        call = self.device.load(request["artifact"]).bind(request["function"], views)
        return self._fastest(request, lambda count: self._batch(call, count))

    def library_product(self, request):
        """The same of a square product by the library that there is."""
        call, stream, name = libraries.product(self.device, self.stream, request["types"], request["size"])
        for view in call.views[:2]:
            self._fill(view)
        self.stream.synchronize()

        def batch(count):
            begin = time.perf_counter()
            for _ in range(count):
                call(None)
            return max(time.perf_counter() - begin, 1e-9) / count

        on_stream = Batches(self.device, stream) if stream else None
        device = lambda count: on_stream.time(call, count)[0]
        return {"name": name, **self._fastest(request, device if stream else batch)}

    def views(self, device, stream, data):
        made = []
        for text, content in zip(self.task["inputs"], data):
            dims, dtype = values.parse_type(text)
            made.append(device.view(dtype, dims))
            made[-1].write(stream, content)
        stream.synchronize()
        return made

    def problem(self, request):
        self.task, self.calls, self.expected = request["problem"], {}, []
        seeds = [values.fresh_seed() for _ in range(CHECKS)]
        whole = self.task.get("whole", self.task["exact"])
        self.data = [
            [values.make_input(text, seed + 10 * i, whole) for i, text in enumerate(self.task["inputs"])]
            for seed in seeds
        ]
        self.given = [self.views(self.device, self.stream, data) for data in self.data]
        # Few different values cost a GPU less power than any: times are of others.
        noise = [values.make_input(text, seeds[0] + 10 * i + 5, False) for i, text in enumerate(self.task["inputs"])]
        self.timed = self.views(self.device, self.stream, noise)
        self.reference = request["reference"]
        return {"seeds": seeds}

    def _ask_reference(self, program, name, views):
        """(results, bounds) of the oracle, as bytes; results first, then a bound for each."""
        stream = self.host.stream()
        try:
            results = program.bind(name + ".bounds", views)(stream)
        except runtime.Error:
            return [view.read(stream) for view in program.bind(name, views)(stream)], None
        data = [view.read(stream) for view in results]
        return data[: len(data) // 2], data[len(data) // 2 :]

    def _expect(self, first, flops):
        """What is right, once per problem: of the oracle, else of the candidate that is looked at first, the default."""
        if flops is None or flops > MOST_REFERENCE_FLOPS:
            apart = self.task.get("tolerance")
            if not self.task["exact"] and apart is None:
                raise runtime.Error(
                    "too large for the reference program, its results are not the same in any order, and nothing says "
                    "how far apart right ones are ('tolerance' in the suite)"
                )
            self.how = "the default's result" + (f", within {apart:.3g}" if apart else "")
            for views in self.given:
                results = first(views)
                self.expected.append((results, apart and [float(apart)] * len(results)))
            return
        self.how = "the reference program"
        program = self.host.load(self.reference, reference=True)
        for data in self.data:
            views = self.views(self.host, self.host.stream(), data)
            results, bounds = self._ask_reference(program, self.task["function"], views)
            self.expected.append((results, None if self.task["exact"] else bounds))

    def check(self, request):
        program = self.device.load(request["artifact"])
        name = self.task["function"]
        call = program.bind(name, self.given[0])
        flops, moved = program.work(name, self.given[0])
        flops = self.task.get("flops") if flops is None else flops
        self.device.set_poison(True)

        def results(views):
            return [view.read(self.stream) for view in program.bind(name, views)(self.stream)]

        try:
            if not self.expected:
                self._expect(results, flops)
            reply = {
                "verdict": "ok",
                "check": self.how,
                "flops": flops,
                "bytes": moved,
                "launches": program.launches(call, self.stream),
            }
            # "DISPATCH variant VARIANT grid …"
            reply["resources"] = program.resources({line.split()[2] for line in reply["launches"]})
            types = [view.dtype for view in call(self.stream)]
            for turn, views in enumerate(self.given):
                bounds = self.expected[turn][1]
                for number, got in enumerate(results(views)):
                    off, first = values.differences(
                        got, self.expected[turn][0][number], bounds and bounds[number], types[number]
                    )
                    if off:
                        return {
                            **reply,
                            "verdict": "mismatch",
                            "error": f"result {number}: {off} elements differ; {first}",
                        }
        finally:
            self.device.set_poison(False)
        self.calls[request["id"]] = program.bind(name, self.timed)
        return reply

    def bind(self, request):
        self.calls[request["id"]] = self.device.load(request["artifact"]).bind(self.task["function"], self.timed)
        return {}

    def forget(self, request):
        self.calls.pop(request["id"], None)
        return {}

    def _batch(self, call, length, warm=True):
        # Not the call itself, which would keep what it is bound to.
        return self.batches.time(lambda _: call(self.stream), length, name=id(call), warm=warm)[0]

    def _late(self, name):
        """Of the samples since the count was cleared."""
        return self.batches.late.get(id(self.calls[name]), 0)

    def _cold(self, call, turn):
        if not self.flushed:
            self.flushed = self.device.buffer(flush_bytes(self.device))
        self.flushed.fill(self.stream, turn)
        return self._batch(call, 1, warm=False)

    def time(self, request):
        """By turns: the baseline stands beside every third candidate, or beside each where there are few."""
        baseline, *others = request["ids"]
        lengths = {}
        for name in request["ids"]:
            self.answer({"now": name})
            self._batch(self.calls[name], 1)
            lengths[name] = max(1, int(BATCH_SECONDS / self._batch(self.calls[name], 1)))
        group = 1 if len(others) <= 4 else 3
        order = [others[i : i + group] for i in range(0, len(others), group)] or [[]]
        samples, ratios = {name: [] for name in request["ids"]}, {name: [] for name in others}
        self.batches.late.clear()
        begin, turn = time.perf_counter(), 0
        wanted = request["seconds"] * (len(others) + len(order))
        while turn < LEAST_SAMPLES or time.perf_counter() - begin < wanted:
            for some in order:
                self.answer({"now": baseline})
                beside = self._batch(self.calls[baseline], lengths[baseline])
                samples[baseline].append(beside)
                # Forth and back, so that none always comes right after the baseline.
                for name in some if turn % 2 else some[::-1]:
                    self.answer({"now": name})
                    samples[name].append(self._batch(self.calls[name], lengths[name]))
                    ratios[name].append(beside / samples[name][-1])
            turn += 1
        times = {name: _summary(samples[name], ratios.get(name), self._late(name)) for name in request["ids"]}
        return {"times": times}

    def cold(self, request):
        """With nothing in the caches, by turns."""
        samples = {name: [] for name in request["ids"]}
        self.batches.late.clear()
        for turn in range(LEAST_SAMPLES):
            for name in request["ids"]:
                self.answer({"now": name})
                samples[name].append(self._cold(self.calls[name], turn))
        times = {
            name: {"cold_median_s": percentile(sorted(samples[name]), 0.5), "cold_late": self._late(name)}
            for name in samples
        }
        return {"times": times}


def _summary(samples, ratios, late):
    """Of the times of a call, and of how many times as long the baseline beside it took."""
    ordered = sorted(samples)
    median = percentile(ordered, 0.5)
    result = {
        "median_s": median,
        "min_s": ordered[0],
        "count": len(ordered),
        "spread": (percentile(ordered, 0.9) - percentile(ordered, 0.1)) / median,
        "late": late,
    }
    if ratios:
        ratios = sorted(ratios)
        result.update(
            ratio=percentile(ratios, 0.5), ratio_low=percentile(ratios, 0.25), ratio_high=percentile(ratios, 0.75)
        )
    return result


def end_with_parent():
    """Whoever watches may be killed, too, and a candidate that hangs would hold the device."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (AttributeError, OSError):
        pass  # no Linux


def main():
    end_with_parent()
    replies = os.fdopen(int(sys.argv[1]), "w", buffering=1)

    def answer(reply):
        replies.write(json.dumps(reply) + "\n")

    measurer = Measurer(answer)
    for line in sys.stdin:
        request = json.loads(line)
        answer({"now": request.get("id")})
        try:
            answer({"ok": True, **getattr(measurer, request["do"])(request)})
        except (runtime.Error, MemoryError, OSError, ValueError) as error:
            answer({"ok": False, "error": str(error).split("\n")[0]})


if __name__ == "__main__":
    main()
