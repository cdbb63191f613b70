# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring as tasks of an executor: a problem is a task, and on a device there is one task at a time.

    OUTPUT.tasks/NAME.jsonl           records of a problem, each on the disk before the next candidate
    OUTPUT.tasks/ceilings-KEY.json    what a device can do at most, for the tasks behind the first one

A task takes the first of the devices that nobody measures on, by the lock of its UUID, and waits where there is none. So
the executor need not know devices: workers on any host, some more than there are devices. When a task is over, or was
lost, the records of its problem go into the journal, each once; what a lost task had measured is not measured again,
whichever device takes the rest.
"""

import fnmatch
import functools
import hashlib
import json
import pathlib
import platform
import shutil
import time

from tilewright_sweep import build, bundle, executors, processes, run
from tilewright_sweep import journal as journals
from tilewright_sweep.watch import DeviceBusy, DeviceLock, Worker, processors_of

#: Between looks at devices that are all taken.
WAIT = 0.2


@functools.lru_cache(maxsize=1)
def _opened(path, _changed):
    """A bundle, unpacked once for all tasks of a process."""
    return bundle.Bundle(path)


@functools.lru_cache(maxsize=None)
def _here(library):
    """{name: UUID} of this host's devices; opens none of them."""
    worker = Worker(60)
    try:
        reply = worker.ask(do="list", library=library)
    finally:
        worker.close()
    if not reply["ok"]:
        raise RuntimeError(reply["error"])
    return reply["uuids"]


def devices_of(wanted, here):
    """{name: UUID} of what is here of the devices that are wanted: cuda, cuda:1, cuda:*, cpu@0-3."""
    found = {}
    for name in wanted:
        if processors_of(name):
            found[name] = ""
        names = [n for n in (name, f"{name}:0") if n in here][:1] or fnmatch.filter(here, name)
        found.update((n, here[n]) for n in names)
    if not found:
        raise RuntimeError(f"{platform.node()} has no {' or '.join(wanted)}; it has {', '.join(here)}")
    return found


def _take(devices, end):
    """The name of a device and the lock on it; None when the time is over before one is free."""
    while True:
        processes.check()
        for name, uuid in devices.items():
            try:
                return name, DeviceLock(name, uuid)
            except DeviceBusy:
                pass
        if time.time() > end:
            return None, None
        time.sleep(WAIT)


def measured(records, candidates, check_only):
    """Ids of those candidates that need not be looked at again, on whatever device they were."""
    known = {(r["candidate"], r["artifact"]) for r in records if "candidate" in r and run.says_enough(r, check_only)}
    return {c["id"] for c in candidates if (c["id"], c["artifact"]) in known}


def _ceilings_file(folder, made):
    parts = [made.host, *(made.opened[k] for k in ("device", "uuid", "driver")), made.plan["compiler"]["sha256"]]
    return folder / f"ceilings-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]}.json"


def measure_problem(path, name, devices, folder, done, end, options):
    """The task. `done`: ids that have a record; `end`: by the clock of the host that gave it."""
    said = []
    try:
        opened, folder = _opened(path, pathlib.Path(path).stat().st_mtime_ns), pathlib.Path(folder)
        here, journal = devices_of(devices, _here(str(opened.library()))), folder / f"{name}.jsonl"
        mine = [c for c in opened.plan["candidates"] if c["problem"] == name]
        made = None
        while not made:
            device, lock = _take(here, end)
            if not device:
                return {"complete": False, "said": said}
            left = max(0.0, end - time.time())
            settings = {**options["run"], "budget": min(left, options["budget"]), "quiet": True, "lock": lock}
            try:
                made = run.Run(opened, device, journal, say=lambda text, **_: said.append(text), **settings)
            except journals.JournalBusy:  # a task that was given up, and lives: what it measures counts
                processes.check()
                time.sleep(WAIT)
        try:
            made.measured = set(done) | measured(journals.read_records(journal), mine, made.check_only)
            kept = _ceilings_file(folder, made)
            if kept.exists():
                made.ceilings.update(json.loads(kept.read_text()))
            complete = made.all(names=[name])
            build.write_whole(kept, json.dumps(made.ceilings).encode())
        finally:
            made.close()
        return {"complete": complete, "said": said, "where": f"{platform.node()} {device}"}
    except (RuntimeError, ValueError, OSError, processes.Interrupted) as error:
        return {"complete": False, "said": said, "error": str(error)}


def collect(folder, journal, names=None):
    """Records of tasks into the journal. A problem's file goes when its records are there, unless a task still writes it:
    one that was given up, or is left from a run that was ended."""
    for path in sorted(folder.glob("*.jsonl")) if names is None else [folder / f"{n}.jsonl" for n in names]:
        if not path.exists():
            continue
        try:
            held = journals.Journal(path)
        except journals.JournalBusy:
            held = None
        for record in journals.read_records(path):
            journal.add(record)
        if held:
            path.unlink()
            held.close()


def run_spread(path, opened, devices, output, executor, shard=None, match="", budget=float("inf"), say=print, **options):
    """As run.run_bundle, over all devices that the executor's workers find free."""
    folder = pathlib.Path(f"{pathlib.Path(output).resolve()}.tasks")
    folder.mkdir(parents=True, exist_ok=True)
    journal, incomplete = journals.Journal(output), []
    plan, end = opened.plan, time.time() + budget
    try:
        collect(folder, journal)
        problems = [p["name"] for p in run.selected(plan, shard, match)]
        mine = {n: [c for c in plan["candidates"] if c["problem"] == n] for n in problems}
        done = measured(journals.read_records(output), plan["candidates"], options.get("check_only"))
        waiting = [n for n in problems if any(c["id"] not in done for c in mine[n])]
        progress = build.Progress(len(waiting), "measure problems")
        part = {"budget": budget * len(devices) / max(1, len(waiting)), "run": options}

        def task(name):
            known = [c["id"] for c in mine[name] if c["id"] in done]
            return measure_problem, (str(pathlib.Path(path).resolve()), name, devices, str(folder), known, end, part)

        def over(name, result):
            for text in result["said"]:
                say(f"{result.get('where', '')}: {text}", flush=True)
            collect(folder, journal, [name])
            if not result["complete"]:
                incomplete.append(result.get("error"))
            progress.step()

        lost = executors.give(executor, {name: task(name) for name in waiting}, over, "measure")
        for name in lost:
            collect(folder, journal, [name])
            incomplete.append(f"{name} was lost three times with its process")
        candidates = {(c["id"], c["artifact"]) for name in problems for c in mine[name]}
        records = [r for r in journal.done.values() if "candidate" in r]
        bad = any(journals.is_bad(r) for r in records if (r["candidate"], r["artifact"]) in candidates)
    finally:
        journal.close()
    for why in sorted({why for why in incomplete if why}):
        say(f"not all was measured: {why}")
    if incomplete:
        say("not all was measured; run again to go on")
        return 1
    shutil.rmtree(str(folder), ignore_errors=True)
    return 2 if bad else 0
