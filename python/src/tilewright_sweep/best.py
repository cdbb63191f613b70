# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results to a tuning database, which tilewright-compile --tuning takes; and files of both kinds to one.

A config comes into the database where it was measured to the end and is faster than the default beyond the noise: the
median of the paired ratios is at least LEAST_GAIN, three quarters of them are at least 1 in each process that
measured it, and its fastest call is no slower than the default's. Of several the fastest,
by pairs and by the fastest calls.
Problems that a database knows by the same key, dynamic ones at several sizes, get the config with the best geometric
mean that was right at every size.
"""

import collections
import json
import math
import pathlib

import tilewright_sweep
from tilewright_sweep import journal as journals
from tilewright_sweep.build import write_whole

LEAST_GAIN = 1.03
KIND = "tilewright tuning database"


class MixError(ValueError):
    """Results that do not belong together."""


def chip_of(record):
    """A device's model: "NVIDIA A100-SXM4-40GB"."""
    return record["driver"].split(",")[0].strip()


def check_alike(records):
    """Refuses results of several devices, drivers or compilers."""
    for what, of in (
        ("devices", lambda r: (r["uuid"], r["host"] if not r["uuid"] else "", chip_of(r))),
        ("drivers", lambda r: r["driver"]),
        ("compilers", lambda r: r["compiler"]["sha256"]),
    ):
        found = sorted({str(of(r)) for r in records})
        if len(found) > 1:
            raise MixError(
                f"the results are of {len(found)} {what}: {'; '.join(found[:4])}; choose by --device, or say --mix"
            )


def fastest_ratio(record):
    """The default's fastest call over the candidate's; what does other work on the host is least in them. The ratio of
    pairs where a record does not say the default's: in journals of before there is none, or null."""
    baseline = record.get("baseline_min_s")
    return record["ratio"] if baseline is None else baseline / record["min_s"]


def steady_ratio(record):
    """The smaller of the ratio of pairs and that of the fastest calls. Where other work takes processors away, kernels of
    few threads lose less by it than the default, and would seem to be faster than they are."""
    return min(record["ratio"], fastest_ratio(record))


def standing(record):
    """What a candidate is beside the default: "faster", "slower", or "equal" within the noise; by the pairs, unless the
    fastest calls say the opposite."""
    if record["ratio"] >= LEAST_GAIN and record["ratio_low"] >= 1 and fastest_ratio(record) >= 1:
        return "faster"
    slower = record["ratio"] <= 1 / LEAST_GAIN and record["ratio_high"] <= 1 and fastest_ratio(record) <= 1
    return "slower" if slower else "equal"


def _mean(ratios):
    """Geometric."""
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def _gain(of):
    return _mean(r["ratio"] for r in of.values())


def best_records(records, mix=False, least=LEAST_GAIN):
    """The records of a database, sorted, each with where it comes from."""
    records = [r for r in records if "candidate" in r]
    if records and not mix:
        check_alike(records)
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for r in records:
        if r["kernel"]:
            key = (
                r["program"],
                chip_of(r),
                json.dumps(r["tuning"]["problem"], sort_keys=True),
                tuple(r["tuning"]["shape"]),
            )
            sizes = " ".join(r["problem"]["inputs"])
            groups[key][r["config"]].setdefault(sizes, r)
    chosen = []
    for (program, chip, problem, shape), configs in sorted(groups.items()):
        every = {sizes for of in configs.values() for sizes in of}
        fit = [
            (_mean(map(steady_ratio, of.values())), config, of)
            for config, of in configs.items()
            if set(of) == every and all(r["verdict"] == "ok" and r.get("final") for r in of.values())
        ]
        fit = [x for x in fit if _gain(x[2]) >= least and any(r["ratio_low"] >= 1 for r in x[2].values())]
        fit = [x for x in fit if any(fastest_ratio(r) >= 1 for r in x[2].values())]
        # Equals in the order of their text, so that the same results give the same database.
        fit.sort(key=lambda x: (-x[0], x[1]))
        if not fit:
            continue
        _, config, of = fit[0]
        gain = _gain(of)
        first = min(of.values(), key=lambda r: r["time"])
        chosen.append(
            {
                "target": program,
                "chip": chip,
                "problem": json.loads(problem),
                "shape": list(shape),
                "config": config,
                "gain": round(gain, 4),
                "measured": len(of),
                "median_s": first["median_s"],
                "default": first["tuning"]["default"],
                "candidate": first["candidate"],
                "device": first["device"],
                "uuid": first["uuid"],
                "driver": first["driver"],
                "compiler": first["compiler"],
                "time": first["time"],
            }
        )
    return chosen


def write_database(path, records):
    text = json.dumps({"schema": tilewright_sweep.SCHEMA, "kind": KIND, "records": records}, indent=1)
    write_whole(pathlib.Path(path), (text + "\n").encode())


def read_database(path):
    """The records of a database; None where the file is none."""
    try:
        found = json.loads(pathlib.Path(path).read_text())
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        return None
    if found.get("schema") != tilewright_sweep.SCHEMA:
        raise MixError(f"{path}: schema {found.get('schema')} is not {tilewright_sweep.SCHEMA}")
    return found["records"]


def merge(paths, output):
    """Of databases, the larger gain of each key; of journals, every record once, the one that says most of each candidate.
    What it was, and how many."""
    databases = [read_database(path) for path in paths]
    if all(d is not None for d in databases):
        best = {}
        for record in [r for d in databases for r in d]:
            key = json.dumps([record[k] for k in ("target", "chip", "problem", "shape")], sort_keys=True)
            if key not in best or record["gain"] > best[key]["gain"]:
                best[key] = record
        write_database(output, [best[key] for key in sorted(best)])
        return "records of a database", len(best)
    if any(d is not None for d in databases):
        raise MixError("databases and results do not merge with each other")
    read = journals.read_results(paths)
    journal = journals.Journal(output)
    for record in read:
        journal.add(record)
    count = len(journal.done)
    journal.close()
    return "results", count
