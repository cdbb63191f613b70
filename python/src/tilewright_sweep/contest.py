# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times several callables in one run, taking turns, so that a machine that drifts drifts for all of them.

    samples = contest(device, stream, {"ours": f, "torch": g}, seconds=0.5)

A sample is the device time of a batch of calls between two events, over its length; a batch is long enough (200 us)
that the clock's steps and a single launch do not show. Each callable takes the number of the round, to choose among
rotated inputs.
"""

import math
import time

BATCH_SECONDS = 2e-4
#: Of the memory that is filled before a batch.
LEAD_BYTES = 1 << 28
#: Share of the samples: with more of them late, a median is the host's as much as the device's.
MOST_LATE = 0.1


def percentile(ordered, p):
    """Linear between the two nearest."""
    at = p * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def summary(samples, enqueue):
    ordered = sorted(samples)
    median = percentile(ordered, 0.5)
    spread = (percentile(ordered, 0.9) - percentile(ordered, 0.1)) / max(median, 1e-12)
    return {"median_s": median, "min_s": ordered[0], "spread": spread, "count": len(ordered), "enqueue_s": enqueue}


def late_note(figures):
    """What a page says beside a time whose samples were late too often; "" of others."""
    share = figures.get("late", 0) / max(figures.get("count", 0), 1)
    return f"host late in {100 * share:.0f} %" if share > MOST_LATE else ""


class Batches:
    """Batches of calls between two events of a stream.

    To launch a kernel costs the host 10 to 300 us, more than many a kernel takes. On a GPU the queue is therefore given
    work ahead, fills of memory and one call more, which last until the host has enqueued the whole batch: what is
    between the events is the device's time alone. A batch that the host was too late for is done again, ATTEMPTS
    times at most.
    """

    ATTEMPTS = 4
    #: `late`: of how many batches of a name the host's time is in the device's all the same.

    def __init__(self, device, stream):
        self.stream, self.events, self.lead = stream, (device.event(), device.event()), None
        self.host, self.late = {}, {}
        if not device.name.startswith("cuda"):
            return
        self.lead = device.buffer(LEAD_BYTES)
        self.filled = min(self._between(lambda: self.lead.fill(stream, 0))[0] for _ in range(5))

    def _between(self, enqueue):
        """Seconds of the device and of the host."""
        start, end = self.events
        begin = time.perf_counter()
        start.record(self.stream)
        enqueue()
        end.record(self.stream)
        host = time.perf_counter() - begin
        self.stream.synchronize()
        return max(start.seconds_until(end), 1e-9), host

    def time(self, call, length, turn=0, name=None, warm=True):
        """Seconds of the device and of the host, per call, of `length` calls with the numbers from `turn` on. Those
        of one `name` take the host about as long each time. Not `warm`: the caches have nothing of it."""

        def enqueue():
            for i in range(length):
                call(turn + i)

        for _ in range(self.ATTEMPTS if self.lead else 1):
            ahead = 1.5 * self.host.get((name, length), 0)
            if self.lead:
                for _ in range(math.ceil(ahead / self.filled)):
                    self.lead.fill(self.stream, 0)
                if warm:
                    call(turn - 1)  # inputs that rotate come from no cache
            device, host = self._between(enqueue)
            self.host[name, length] = host
            if host <= ahead:
                break
        else:
            if self.lead:
                self.late[name] = self.late.get(name, 0) + 1
        return device / length, host / length


def contest(device, stream, contenders, seconds, least=5):
    """Per contender: median_s, min_s, spread ((p90 - p10) / median), count, enqueue_s (host time of one call), late (samples that
    have the host's time in them)."""
    batches, lengths = Batches(device, stream), {}
    for name, call in contenders.items():
        batches.time(call, 1, 0, name)
        once, _ = batches.time(call, 2, 1, name)
        lengths[name] = max(1, int(BATCH_SECONDS / once))
        warm = time.perf_counter() + min(seconds, 0.3)
        while time.perf_counter() < warm:
            batches.time(call, lengths[name], 0, name)
    batches.late.clear()
    samples = {name: [] for name in contenders}
    enqueue = dict.fromkeys(contenders, float("inf"))
    begin, turn = time.perf_counter(), 0
    while turn < least or time.perf_counter() - begin < seconds * len(contenders):
        for name, call in contenders.items():
            sample, host = batches.time(call, lengths[name], turn, name)
            samples[name].append(sample)
            enqueue[name] = min(enqueue[name], host)
        turn += 1
    late = {name: {"late": batches.late.get(name, 0)} for name in contenders}
    return {name: {**summary(samples[name], enqueue[name]), **late[name]} for name in contenders}
