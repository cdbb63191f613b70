# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled end-to-end cases on a machine's devices, by several processes beside each other.

A driver compiles the code of a case when it is loaded, on one processor: the programs are dealt out to as many processes
as there are processors, up to MOST. Each has a journal of its own and is started again where a case takes the device or
the process along; the journals become one, with a line per case and device.
"""

import concurrent.futures
import json
import os
import pathlib
import time

from tilewright_sweep import executors, journal

#: Each process has a context of its own, with memory on the device.
MOST = 12
#: Of the runner: above that it crashed, was ended or lost its device, and goes on when it is started again.
WORST_VERDICT = 2
#: Seconds that a call may take.
PATIENCE = 20


def _verdicts(path):
    """The lines with a verdict by case and device; a later one replaces an earlier one."""
    return {(r["case"], r["device"]): r for r in journal.read_records(path) if "case" in r}


def _write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))


def _deal(listed, folder, count):
    """Files of cases, every `count`-th program each, beside the list: paths in it are relative to its folder."""
    cases, files = json.loads(listed.read_text()), []
    for number in range(min(count, len(cases["programs"]))):
        path = folder / f"cases-{number}-of-{count}.json"
        path.write_text(json.dumps({**cases, "programs": cases["programs"][number::count]}))
        files.append(path)
    return files


def run(session, listed, result, processes=None):
    """The worst exit code of the runners, 124 where the time was over; RESULT gets the verdicts, and keeps those it has."""
    end, listed = time.monotonic() + session.seconds, pathlib.Path(listed)
    files = _deal(listed, listed.parent, processes or min(MOST, os.cpu_count() or 1))
    known = _verdicts(result)

    def one(path):
        mine, code = path.with_suffix(".jsonl"), 124
        _write(mine, known.values())
        while time.monotonic() < end:
            code = session.do(
                [session.tool("tilewright-e2e"), f"--timeout={PATIENCE}", path, mine, *session.devices()],
                end - time.monotonic(),
            )
            if code <= WORST_VERDICT or code == 124:
                break
        return code

    with concurrent.futures.ThreadPoolExecutor(len(files) or 1) as pool:
        try:
            codes = [future.result() for future in executors.completed([pool.submit(one, path) for path in files])]
        except BaseException:
            session.stop()  # the threads wait for their runners, and the pool for them
            raise
    for path in files:
        known.update(_verdicts(path.with_suffix(".jsonl")))
    _write(result, known.values())
    failed = sum(r["verdict"] == "failed" for r in known.values())
    print(f"e2e: {len(known) - failed} passed, {failed} failed", flush=True)
    return max(codes, default=0)
