# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times several callables in one run, taking turns, so that a machine that drifts drifts for all of them.

    samples = contest(device, stream, {"ours": f, "torch": g}, seconds=0.5)

A sample is the device time of a batch of calls between two events, over its length; a batch is long enough (200 us)
that the clock's steps and a single launch do not show. Each callable takes the number of the round, to choose among
rotated inputs.
"""

import time

BATCH_SECONDS = 2e-4


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


def contest(device, stream, contenders, seconds, least=5):
    """Per contender: median_s, min_s, spread ((p90 - p10) / median), count, enqueue_s (host time of one call)."""
    start, end = device.event(), device.event()

    def batch(call, length, turn):
        begin = time.perf_counter()
        start.record(stream)
        for i in range(length):
            call(turn + i)
        end.record(stream)
        enqueue = (time.perf_counter() - begin) / length
        stream.synchronize()
        return max(start.seconds_until(end), 1e-9) / length, enqueue

    lengths = {}
    for name, call in contenders.items():
        batch(call, 1, 0)
        once, _ = batch(call, 2, 1)
        lengths[name] = max(1, int(BATCH_SECONDS / once))
        warm = time.perf_counter() + min(seconds, 0.3)
        while time.perf_counter() < warm:
            batch(call, lengths[name], 0)
    samples = {name: [] for name in contenders}
    enqueue = dict.fromkeys(contenders, float("inf"))
    begin, turn = time.perf_counter(), 0
    while turn < least or time.perf_counter() - begin < seconds * len(contenders):
        for name, call in contenders.items():
            sample, host = batch(call, lengths[name], turn)
            samples[name].append(sample)
            enqueue[name] = min(enqueue[name], host)
        turn += 1
    return {name: summary(samples[name], enqueue[name]) for name in contenders}
