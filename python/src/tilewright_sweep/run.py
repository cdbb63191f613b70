# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures a bundle on a device: what runs when, and what is written down.

Per problem: every candidate is checked first. Those that are right compete in rounds, each by turns with the default;
after a round the better half goes on, with twice the time each, until at most four are left, which get a longer round.
Those of them that are faster or slower than the default beyond the noise are timed again in two processes more: where
the system put threads and pages holds for as long as a process lives, and can be worth more than a config. The best
one is measured with empty caches, too. A candidate's record is written when it is out, so a run that ends early has
lost only what was under way. Candidates whose artifacts are equal are measured once.
"""

import io
import math
import os
import platform
import sys
import time

import tilewright_sweep
from tilewright_sweep import ceilings
from tilewright_sweep import journal as journals
from tilewright_sweep.best import standing, steady_ratio
from tilewright_sweep.build import Progress
from tilewright_sweep.contest import percentile
from tilewright_sweep.plan import of_shard
from tilewright_sweep.surroundings import Surroundings
from tilewright_sweep.watch import DeviceLock, Worker, WorkerDied

#: Seconds of measuring per candidate in the first round, and in the last one.
FIRST_SECONDS, LAST_SECONDS = 0.02, 0.4
FINALISTS = 4
#: Processes beside the first one in which a difference must show, each with a part of the seconds of the last round.
PROOFS, PROOF_PART = 2, 0.5


#: What a line says of the best of the others.
WORDS = {"faster": "faster", "slower": "slower", "equal": "within the noise, so the default stands"}


class BudgetOver(Exception):
    pass


class NotOpened(RuntimeError):
    """The device was not opened again, or its process died of that: of no candidate anything is known."""


class DefaultFailed(Exception):
    """The baseline of a problem is wrong, crashed or hung; `report`: members of its record."""

    def __init__(self, report):
        super().__init__(report["error"])
        self.report = report


def selected(plan, shard=None, match=""):
    """The problems of a shard with this text in their names."""
    if not any(match in p["name"] for p in plan["problems"]):
        raise ValueError(f"--match={match}: no problem of the bundle has this in its name")
    return [p for p in of_shard(plan["problems"], shard) if match in p["name"]]


def rounds_of(count):
    """How many candidates compete in each round: the better half goes on."""
    sizes = []
    while count > FINALISTS:
        sizes.append(count)
        count = max(FINALISTS, count // 2)
    return sizes + [count]


def seconds_of(sizes, left):
    """Seconds per candidate of each round, within those that are left."""
    seconds = [FIRST_SECONDS * 2**i for i in range(len(sizes) - 1)] + [LAST_SECONDS]
    # The baseline takes a third of the time beside, starting and checking some more.
    proofs = PROOFS * PROOF_PART * (sizes[-1] + 1) * LAST_SECONDS
    total = 1.6 * (sum((n + 1) * s for n, s in zip(sizes, seconds)) + proofs)
    return [s * min(1.0, left / total) for s in seconds]


def over_processes(figures):
    """What several processes measured of a candidate as the figures of one: medians, and the widest of what is around
    them. `processes` has the ratio of each."""
    middle = lambda name: percentile(sorted(f[name] for f in figures), 0.5)
    return {
        "median_s": middle("median_s"),
        "min_s": min(f["min_s"] for f in figures),
        "baseline_min_s": min(f["baseline_min_s"] for f in figures),
        "count": sum(f["count"] for f in figures),
        "late": sum(f["late"] for f in figures),
        "spread": max(f["spread"] for f in figures),
        "ratio": middle("ratio"),
        "ratio_low": min(f["ratio_low"] for f in figures),
        "ratio_high": max(f["ratio_high"] for f in figures),
        "processes": [f["ratio"] for f in figures],
    }


def says_enough(record, check_only):
    """Whether a run need not look at its candidate again."""
    return check_only or journals.knowledge(record) > journals.CHECKED


class Run:
    def __init__(
        self,
        bundle,
        device,
        path,
        budget=math.inf,
        timeout=60.0,
        check_only=False,
        wait=False,
        command=None,
        say=print,
        cold=True,
        lock=None,
        quiet=False,
    ):
        """`lock`: held already; `quiet`: no line that says how far it is."""
        self.bundle, self.plan, self.say = bundle, bundle.plan, say
        self.worker = Worker(timeout, command)
        self.check_only, self.cold = check_only, cold
        self.budget, self.end = budget, time.monotonic() + budget
        self.name, self.lock, self.journal, self.quiet = device, lock, None, quiet
        self.measured = set()  # ids that have records elsewhere
        self.host = f"{platform.node()}, {platform.system()} {platform.release()} {platform.machine()}"
        try:
            self._take(device, wait)
            self.journal = journals.Journal(path)
        except BaseException:
            self.close()
            raise
        self.around = Surroundings(self.opened["device"], self.opened["uuid"])
        self.ceilings = self._known_ceilings(path)

    def _take(self, device, wait):
        """Locks the device and opens it, in this order where it is known by its name: to open one costs who measures on it."""
        if not self.lock:
            uuids = self._ask(do="list")["uuids"]
            name = next((n for n in (device, f"{device}:0") if n in uuids or n.startswith("cpu@")), None)
            self.lock = DeviceLock(name, uuids.get(name, ""), wait) if name else None
        self.opened = self._open(device)
        self.lock = self.lock or DeviceLock(self.opened["device"], self.opened["uuid"], wait)

    def _ask(self, **request):
        reply = self.worker.ask(library=str(self.bundle.library()), **request)
        if not reply["ok"]:
            raise RuntimeError(reply["error"])
        return reply

    def _open(self, device):
        try:
            return self._ask(do="open", device=device)
        except WorkerDied as died:
            raise NotOpened(f"{device} could not be opened: {died}") from None

    def close(self):
        for held in (self.worker, self.journal, self.lock):
            if held:
                held.close()

    def _known_ceilings(self, path):
        """Those of this device that records of the journal have, by types."""
        here = {"host": self.host, "compiler": self.plan["compiler"]}
        here.update((k, self.opened[k]) for k in ("device", "uuid", "driver"))
        known = [r for r in journals.read_records(path) if r.get("ceilings") and all(r.get(k) == v for k, v in here.items())]
        return {r["ceilings"]["types"]: r["ceilings"] for r in known}

    def _measure_ceilings(self, problems):
        """What the device can do at most, of the types of these problems; once."""
        types = sorted({ceilings.types_of(p) for p in problems} - set(self.ceilings))
        if not types or self.check_only:
            return

        def ask(entry, seconds):
            if not self.worker.alive:
                self.opened = self._open(self.name)
            request = {k: entry[k] for k in ("function", "inputs")}
            artifact = str(self.bundle.artifact(entry))
            reply = self._ask(do="ceiling", id=entry["function"], artifact=artifact, seconds=seconds, **request)
            return reply["seconds"]

        def ask_library(kind, size, seconds):
            if not self.worker.alive:
                self.opened = self._open(self.name)
            reply = self._ask(do="library_product", id=f"library {kind}", types=kind, size=size, seconds=seconds)
            return reply["seconds"], reply["name"]

        entries, renew = self.plan.get("ceilings", []), self.worker.close
        made = ceilings.measure(entries, ask, ask_library, renew, types, self.budget)
        self.ceilings.update((t, ceilings.of_types(made, t)) for t in types)
        self._tell_ceilings(types)

    def _tell_ceilings(self, types):
        for kind in types:
            most = self.ceilings[kind]
            flops = ceilings.highest(most)
            flops = f"{flops * 1e-9:.4g} GFLOP/s" if flops else "operations not known"
            memory = most["memory_bytes_per_s"]
            text = f"{memory * 1e-9:.3g} GB/s of memory" if memory else "memory not known"
            self.say(f"at most {kind}: {flops}, {text}", flush=True)

    def record(self, candidate, **members):
        """A line of the journal; docs/sweeping.md says what its members are."""
        problem = self.problem
        kernel = next(
            (
                k
                for k in problem["kernels"]
                if (k["kernel"], k["program"]) == (candidate["kernel"], candidate["program"])
            ),
            None,
        )
        unknown = dict(members.pop("unknown", {}))
        said = members.pop("resources", None) or [{"reason": "none of its kernels was asked about on the device"}]
        resources = [kernel for kernel in said if "reason" not in kernel]
        if not resources:
            unknown["resources"] = said[0]["reason"]
        return {
            "schema": tilewright_sweep.SCHEMA,
            "candidate": candidate["id"],
            "problem": {k: v for k, v in problem.items() if k not in ("kernels", "exact")},
            "kernel": candidate["kernel"],
            "program": candidate["program"],
            "target": self.plan["target"],
            "options": self.plan["options"],
            "config": candidate["config"],
            "tuning": kernel and {"problem": kernel["problem"], "shape": kernel["shape"], "default": kernel["default"]},
            "artifact": candidate["artifact"],
            "resources": resources or None,
            **({"predicted": candidate["predicted"]} if "predicted" in candidate else {}),
            **members,
            "unknown": unknown,
            "device": self.opened["device"],
            "uuid": self.opened["uuid"],
            "driver": self.opened["driver"],
            "version": self.opened["version"],
            "compiler": self.plan["compiler"],
            "host": self.host,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def write(self, candidate, same=(), **members):
        self.journal.add(self.record(candidate, **members))
        for other in same:
            self.journal.add(self.record(other, **members, same_as=candidate["id"]))
        self.progress.step(1 + len(same))

    def _on_record(self, candidate):
        """What the journal has of it on this device."""
        where = {k: self.opened[k] for k in ("device", "uuid", "driver")}
        return self.journal.of({"candidate": candidate["id"], "artifact": candidate["artifact"], **where})

    def known(self, candidate):
        record = self._on_record(candidate)
        return candidate["id"] in self.measured or bool(record and says_enough(record, self.check_only))

    def of_problem(self, problem):
        return {c["id"] for c in self.plan["candidates"] if c["problem"] == problem["name"]}

    def all(self, shard=None, match="", names=None):
        """Whether every problem was gone through before the budget was over; `names`: of those that are called so alone."""
        problems = selected(self.plan, shard, match)
        problems = problems if names is None else [p for p in problems if p["name"] in names]
        names = self.names = {p["name"] for p in problems}
        waiting = {c["id"] for c in self.plan["candidates"] if c["problem"] in names and not self.known(c)}
        self._measure_ceilings([p for p in problems if waiting & self.of_problem(p)])
        self.progress = Progress(len(waiting), "measure", io.StringIO() if self.quiet else sys.stderr)
        for number, problem in enumerate(problems):
            if not waiting & self.of_problem(problem):
                continue
            self.problem = problem
            left = (self.end - time.monotonic()) / (len(problems) - number)
            try:
                self._one(left)
            except BudgetOver:
                return False
        return True

    @property
    def bad(self):
        """How many candidates of the problems of `all` are wrong or failed, in this run or in one before."""
        records = [self._on_record(c) for c in self.plan["candidates"] if c["problem"] in self.names]
        return sum(map(journals.is_bad, filter(None, records)))

    def _one(self, left):
        """One problem."""
        mine = [c for c in self.plan["candidates"] if c["problem"] == self.problem["name"]]
        default, waiting = mine[0], [c for c in mine if not self.known(c)]
        for c in [c for c in waiting if not c["ok"]]:
            self.write(c, verdict="not compiled", error=c["diagnostics"], ended=c["ended"])
        waiting = [c for c in waiting if c["ok"]]
        if not default["ok"] or not waiting:
            for c in waiting:
                self.write(c, verdict="error", error="the default, the baseline of this problem, was not compiled")
            return
        self.reports, self.equal, alone = {}, {}, []
        for c in waiting:
            same = next((x for x in [default] + alone if x["artifact"] == c["artifact"] and x is not c), None)
            if same:
                self.equal.setdefault(same["id"], []).append(c)
            elif c is not default:
                alone.append(c)
        try:
            self._prepare(default)
            right = self._checked(default, alone)
            if not self.check_only:
                self._compete(default, right, left)
                return
            for c in [default] * (not self.known(default)) + right:
                self.write(c, self.equal.get(c["id"], ()), **self.reports[c["id"]])
        except DefaultFailed as failed:
            self.worker.close()
            self._fail_all(default, alone, failed.report)

    def _fail_all(self, default, others, report):
        """Without a baseline nothing is known of the others."""
        same, text = self.equal.get(default["id"], []), f"the default, which they are held against: {report['error']}"
        if not self.known(default):
            self.write(default, same, **report)
            same = []
        for c in same + [c for c in others if not self.known(c)]:
            self.write(c, self.equal.get(c["id"], ()), verdict="error", error=text)

    def _prepare(self, default, tries=2):
        """The problem and its baseline in a worker, which may be a new one; another one where it dies
        before the baseline runs."""
        if not self.worker.alive:
            self.opened = self._open(self.name)
        for request in (
            dict(do="problem", problem=self.problem, reference=str(self.bundle.reference(self.problem))),
            dict(do="check", id=default["id"], artifact=str(self.bundle.artifact(default))),
        ):
            try:
                reply = self.worker.ask(**request)
            except WorkerDied as died:
                if died.at is None and tries > 1:
                    return self._prepare(default, tries - 1)
                raise DefaultFailed({"verdict": died.how, "error": str(died)}) from None
            if not reply["ok"]:
                reply.update(verdict="error")
            if not reply["ok"] and request["do"] == "problem":
                break
        reply.pop("ok")
        self.reports[default["id"]] = reply

    def _checked(self, default, candidates):
        """Those that are right; the others are written down."""
        report = self.reports[default["id"]]
        if report["verdict"] != "ok":
            raise DefaultFailed(report)
        launched = " ".join(report["launches"])
        tags = {(k["kernel"], k["program"]): k["tag"] for k in self.problem["kernels"]}
        right = []
        for c in candidates:
            if time.monotonic() > self.end:
                raise BudgetOver
            tag = tags.get((c["kernel"], c["program"]))
            if tag and f"{tag} grid" not in launched:
                self.write(
                    c,
                    self.equal.get(c["id"], ()),
                    verdict="not for this device",
                    error=f"the device runs another program than {c['program']}",
                )
                continue
            if self._check(default, c):
                right.append(c)
        return right

    def _check(self, default, candidate):
        """Whether it is right, and in the worker."""
        try:
            reply = self.worker.ask(do="check", id=candidate["id"], artifact=str(self.bundle.artifact(candidate)))
            if not reply["ok"]:
                reply = {"verdict": "error", "error": reply["error"]}
        except WorkerDied as died:
            reply = {"verdict": died.how, "error": str(died)}
        reply.pop("ok", None)
        self.reports[candidate["id"]] = reply
        if reply["verdict"] == "ok":
            return True
        self.write(candidate, self.equal.get(candidate["id"], ()), **reply)
        if reply["verdict"] != "mismatch":
            # A device may be lost with the candidate that it did not bear.
            self._restart(default, [])
        return False

    def _restart(self, default, candidates):
        self.worker.close()
        self._prepare(default)
        for c in candidates:
            self.worker.ask(do="check", id=c["id"], artifact=str(self.bundle.artifact(c)))

    def _time(self, default, candidates, **request):
        """{id: figures}; a candidate at which the worker dies is written down and left out. Where it dies at
        none of them, another one tries once."""
        candidates, tries = list(candidates), 2
        while True:
            try:
                if not self.worker.alive:
                    self._restart(default, candidates)
                reply = self.worker.ask(ids=[default["id"]] + [c["id"] for c in candidates], **request)
                if reply["ok"]:
                    if request["do"] == "time":
                        for c in candidates:
                            reply["times"][c["id"]]["baseline_min_s"] = reply["times"][default["id"]]["min_s"]
                    return candidates, reply["times"]
                how, at, text = "error", self.worker.at, reply["error"]
            except WorkerDied as died:
                how, at, text = died.how, died.at, str(died)
            if at is None:
                tries -= 1
                if tries:
                    self.worker.close()
                    continue
            guilty = next((c for c in candidates if c["id"] == at), None)
            if not guilty:
                raise DefaultFailed({**self.reports[default["id"]], "verdict": how, "error": text})
            candidates.remove(guilty)
            self.write(
                guilty,
                self.equal.get(guilty["id"], ()),
                **{**self.reports[guilty["id"]], "verdict": how, "error": text},
            )
            self.worker.close()

    def _compete(self, default, candidates, left):
        sizes = rounds_of(len(candidates))
        for number, (_, seconds) in enumerate(zip(sizes, seconds_of(sizes, left))):
            if time.monotonic() > self.end:
                raise BudgetOver
            last = number == len(sizes) - 1
            with self.around.watch() as seen:
                candidates, times = self._time(default, candidates, do="time", seconds=seconds)
                baseline = times[default["id"]]
                if last:
                    candidates = self._prove(default, candidates, times, seconds * PROOF_PART)
            around = seen.summary()
            for c in candidates:
                self._note(c, times[c["id"]], baseline, number, last, around)
            candidates.sort(key=lambda c: -steady_ratio(times[c["id"]]))
            if last:
                self._tell(candidates[:1], times, baseline)
            if last and self.cold:
                # Emptying a large cache takes long: the best one is enough.
                for name, cold in self._time(default, candidates[:1], do="cold")[1].items():
                    self.reports[name].update(cold)
                candidates = [c for c in candidates if not self.known(c)]
            keep = 0 if last else sizes[number + 1]
            for c in candidates[keep:]:
                self.write(c, self.equal.get(c["id"], ()), **self.reports[c["id"]])
                if not last:
                    self.worker.ask(do="forget", id=c["id"])
            candidates = candidates[:keep]
        self._note(
            default,
            {**baseline, "ratio": 1.0, "ratio_low": 1.0, "ratio_high": 1.0, "baseline_min_s": baseline["min_s"]},
            baseline,
            number,
            True,
            around,
        )
        if not self.known(default):
            self.write(default, self.equal.get(default["id"], ()), **self.reports[default["id"]])
        elif self.equal.get(default["id"]):
            for c in self.equal[default["id"]]:
                self.write(c, **self.reports[default["id"]], same_as=default["id"])

    def _prove(self, default, candidates, times, seconds):
        """Times those that are not the default's equals again in other processes, and puts what all say into `times`.
        The candidates that are left."""
        unequal = [c for c in candidates if standing(times[c["id"]]) != "equal"]
        figures = {c["id"]: [times[c["id"]]] for c in unequal}
        for _ in range(PROOFS):
            if not unequal:
                break
            if time.monotonic() > self.end:
                raise BudgetOver
            self.worker.close()
            self._bind([default] + candidates)
            left, again = self._time(default, unequal, do="time", seconds=seconds)
            candidates = [c for c in candidates if c in left or c not in unequal]
            unequal = left
            for c in unequal:
                figures[c["id"]].append(again[c["id"]])
        for c in unequal:
            times[c["id"]].update(over_processes(figures[c["id"]]))
        return candidates

    def _bind(self, candidates):
        """Candidates that were checked, in a new worker. One that it does not bear is found when it is timed."""
        self.opened = self._open(self.name)
        reference = str(self.bundle.reference(self.problem))
        try:
            self.worker.ask(do="problem", problem=self.problem, reference=reference)
            for c in candidates:
                self.worker.ask(do="bind", id=c["id"], artifact=str(self.bundle.artifact(c)))
        except WorkerDied:
            self.worker.close()

    def _tell(self, best, times, baseline):
        """A line per problem, as it goes."""
        text = f"{self.problem['name']}: default {baseline['median_s'] * 1e6:.4g} us"
        for c in best:
            figures = times[c["id"]]
            text += (
                f"; best of the others {figures['median_s'] * 1e6:.4g} us, {figures['ratio']:.3f} times as fast in pairs "
                f"(half of them {figures['ratio_low']:.3f} to {figures['ratio_high']:.3f}): {WORDS[standing(figures)]}: {c['config']}"
            )
        self.say(text, flush=True)

    def _note(self, candidate, figures, baseline, number, last, around):
        report = self.reports[candidate["id"]]
        report.update(figures, baseline_median_s=baseline["median_s"], round=number, final=last, surroundings=around)
        for rate, work in (("flops_per_s", report["flops"]), ("bytes_per_s", report["bytes"])):
            report[rate] = work / figures["median_s"] if work else None
        most = self.ceilings[ceilings.types_of(self.problem)]
        cache = self.opened.get("cache_bytes")
        report["ceilings"], report["unknown"] = most, {}
        report["roofline"] = ceilings.roofline(most, report["flops"], report["bytes"], figures["median_s"], cache)
        if not report["roofline"]:
            report["unknown"]["roofline"] = most.get("unknown", "the artifact does not say what work it does")


def run_bundle(bundle, device, path, shard=None, match="", **options):
    """0: all was measured and right; 1: the budget was over before; 2: some were wrong or failed."""
    run = Run(bundle, device, path, **options)
    try:
        complete = run.all(shard, match)
    finally:
        run.close()
    if not complete:
        run.say("the budget is over; run again to go on")
        return 1
    return 2 if run.bad else 0


def parse_duration(text):
    """ "90", "90s", "10m", "2h" in seconds."""
    units = {"s": 1, "m": 60, "h": 3600}
    number = text[:-1] if text[-1:] in units else text
    try:
        seconds = float(number) * units.get(text[-1:], 1)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise ValueError(f"a time is 90, 90s, 10m or 2h, not '{text}'")
    return seconds


def default_journal(bundle_path):
    return os.path.splitext(str(bundle_path))[0] + ".jsonl"
