# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device can do at most, measured before the candidates, and what share of it they reach: the roofline.

    product  square products in the compiler's own config, of the types that the plan's problems multiply
    library  the largest of them by cuBLAS or OpenBLAS, where there is one
    fma      on CPUs: multiply-adds in registers, of f32 and f64
    triad    c = a + 3 b of f32, of several sizes: the caches, and behind them memory

They are compiled with the plan and travel in its bundle. Sizes grow until a call would take longer than MOST_SECONDS; of
each the fastest call counts. The least that a kernel can take is the longer of operations over operations a second, and
bytes over bytes a second; the rate of bytes is the highest that was measured with as many bytes or more.
"""

import json
import math
import pathlib

from tilewright_sweep import problems
from tilewright_sweep.programs import Function
from tilewright_sweep.watch import WorkerDied

#: A call that would take longer is not tried.
MOST_SECONDS = 1.0
SECONDS = 0.2
#: Where threads and pages lie holds for a process; the best of several counts.
PROCESSES = 2
#: Of a budget, for all ceilings.
BUDGET_PART = 0.1
PRODUCTS = {"cpu": (512, 1024, 2048), "": (256, 1024, 2048, 4096, 8192)}
#: Rows of 4096 f32; three such tensors are moved.
TRIAD_ROWS = (4, 32, 256, 2048, 16384)
CHAIN = 64


def types_of(problem):
    """What a problem computes with, as types of a product: "f16:f32"."""
    if problem["op"] in ("gemm", "conv2d", "quantized"):
        operand, _, result = problem["types"].partition(":")
        return f"{operand}:{result or operand}"
    first = (problem["types"].partition(":")[0] or problem["inputs"][0].split("x")[-1]) if problem["inputs"] else "f32"
    if "f" not in first:
        return "i32:i32"
    if first in ("f64", "f32"):
        return f"{first}:{first}"
    # What is not multiplied by matrices is computed in f32.
    return f"{first}:f32" if problem["op"] in ("attention", "mlir") else "f32:f32"


def _map(name, dims, dtype, count, body):
    """A function that makes a tensor of `count` ones, element by element."""
    f = Function(name)
    inputs = [(f.input(dims, dtype), dims, dtype) for _ in range(count)]
    value = f.generic([[0, 1]] * (count + 1), "pp", inputs, (f.empty(dims, dtype), dims, dtype), body)
    return {"function": name, "mlir": f.text((value, dims, dtype)), "inputs": ["x".join(map(str, dims)) + f"x{dtype}"] * count}


def _triad(rows):
    dims = [rows, 4096]
    body = ["%k = arith.constant 3.0 : f32", "%p = arith.mulf %x1, %k : f32", "%s = arith.addf %x0, %p : f32"]
    made = _map(f"triad_{rows}", dims, "f32", 2, [*body, "linalg.yield %s : f32"])
    return {**made, "kind": "triad", "flops": 0, "bytes": 12 * math.prod(dims)}


def _fma(dtype):
    dims, steps = [512, 4096], ["%x0", *(f"%a{i}" for i in range(CHAIN))]
    body = [f"{b} = math.fma {a}, %x0, %x0 : {dtype}" for a, b in zip(steps, steps[1:])]
    made = _map(f"fma_{dtype}", dims, dtype, 1, [*body, f"linalg.yield {steps[-1]} : {dtype}"])
    return {**made, "kind": "fma", "types": f"{dtype}:{dtype}", "flops": 2 * CHAIN * math.prod(dims), "bytes": 0}


def _product(types, size):
    made = problems.make_problem({"op": "gemm", "m": size, "n": size, "k": size, "types": types})
    kept = {k: made[k] for k in ("function", "mlir", "inputs")}
    return {**kept, "kind": "product", "types": types, "size": size, "flops": 2 * size**3, "bytes": 0}


def programs(plan):
    """All that is to be compiled for a plan, the smaller ones first."""
    cpu = plan["target"].startswith("cpu")
    made = [_triad(rows) for rows in TRIAD_ROWS]
    made += [_fma(dtype) for dtype in ("f32", "f64")] if cpu else []
    for types in sorted({types_of(p) for p in plan["problems"]}):
        made += [_product(types, size) for size in PRODUCTS["cpu" if cpu else ""]]
    return made


def compile_all(plan, folder):
    """Entries of a bundle: the programs, each with its artifact in the cache, or why it has none."""
    from tilewright_sweep import build, compiler

    folder, made = pathlib.Path(folder).resolve(), []
    (folder / "ceilings").mkdir(exist_ok=True)
    (folder / "cache").mkdir(exist_ok=True)
    options = [o for o in plan["options"] if not o.startswith("--require")]
    plain, jobs = {"kernel": None, "program": None, "config": "default"}, []
    for entry in programs(plan):
        text = entry.pop("mlir")
        path = folder / "ceilings" / f"{entry['function']}.mlir"
        path.write_text(text)
        key = build.key_of({**plan, "options": options}, plain, text)
        jobs.append({"key": key, "input": str(path), "configs": {}, "options": []})
        made.append(entry)
    build.compile_batch(str(folder), compiler.find_compiler(), plan["target"], options, {}, jobs)
    for entry, job in zip(made, jobs):
        said = json.loads((folder / "cache" / f"{job['key']}.json").read_text())
        entry["artifact"] = said["artifact"]
        if not said["ok"]:
            entry["error"] = said["diagnostics"].splitlines()[0]
    return made


def _series(entries):
    """Programs of one kind and types, in the order of their sizes."""
    found = {}
    for entry in entries:
        found.setdefault((entry["kind"], entry.get("types", "")), []).append(entry)
    return found


def measure(entries, ask, ask_library, renew, types, budget=math.inf):
    """{"flops_per_s": {types: {"product", "size", "library", "name", "fma"}}, "bytes_per_s": [[bytes, rate], ...],
    "unknown": {...}}

    `ask(entry, seconds)` gives the seconds of a call, `ask_library(types, size, seconds)` those of a library's product and
    its name; `renew()` makes the process that measures a new one; `types`: what is wanted of products."""
    series = {k: v for k, v in _series(entries).items() if k[0] != "product" or k[1] in types}
    each = min(SECONDS, budget * BUDGET_PART / PROCESSES / max(1, sum(map(len, series.values()))))
    rates, unknown, theirs = {}, {}, {}
    for number in range(PROCESSES):
        if number and series:
            renew()
        for some in series.values():
            last = 0.0
            for entry, before in zip(some, [None, *some]):
                if before and last * _work(entry) / _work(before) > MOST_SECONDS:
                    break
                try:
                    if not entry["artifact"]:
                        raise RuntimeError(entry["error"])
                    last = ask(entry, each)
                except (RuntimeError, WorkerDied) as error:
                    unknown[f"{entry['kind']} {entry['function']}"] = str(error)
                    break
                name = entry["function"]
                rates[name] = max(rates.get(name, 0.0), _work(entry) / last)
    if any(kind == "product" for kind, _ in series):
        # In a process of their own: threads of a library may spin on when they are done.
        renew()
        _measure_libraries(series, rates, ask_library, each, theirs, unknown)
        renew()
    made = _arranged(entries, rates, types)
    for of, (rate, name) in theirs.items():
        made["flops_per_s"][of].update(library=rate, name=name)
    return {"unknown": unknown, **made}


def _measure_libraries(series, rates, ask_library, seconds, theirs, unknown):
    """Of the largest products that ours took a sensible time for."""
    for (kind, of), some in series.items():
        tried = [entry for entry in some if entry["function"] in rates]
        if kind != "product" or not tried:
            continue
        try:
            taken, name = ask_library(of, tried[-1]["size"], seconds)
            theirs[of] = tried[-1]["flops"] / taken, name
        except (RuntimeError, WorkerDied) as error:
            unknown[f"library {of}"] = str(error)


def _work(entry):
    return entry["flops"] or entry["bytes"]


def _arranged(entries, rates, types):
    flops, steps = {t: {} for t in types}, []
    for entry in entries:
        rate, kind = rates.get(entry["function"]), entry["kind"]
        if not rate:
            continue
        if kind == "triad":
            steps.append([entry["bytes"], rate])
        elif rate > flops.setdefault(entry["types"], {}).get(kind, 0):
            flops[entry["types"]][kind] = rate
            flops[entry["types"]].update({"size": entry["size"]} if kind == "product" else {})
    return {"flops_per_s": flops, "bytes_per_s": steps}


def of_types(ceilings, types):
    """What a record says of them: the part that is about its types."""
    own, wide = (ceilings["flops_per_s"].get(t, {}) for t in (types, "f64:f64" if "f64" in types else "f32:f32"))
    memory = ceilings["bytes_per_s"]
    why = [w for name, w in ceilings["unknown"].items() if name.startswith("product") or name.startswith("triad")]
    return {
        "types": types,
        "product_flops_per_s": own.get("product"),
        "product_size": own.get("size"),
        "library_flops_per_s": own.get("library"),
        "library": own.get("name"),
        "fma_flops_per_s": wide.get("fma") if "i" not in types else None,
        "bytes_per_s": memory,
        "memory_bytes_per_s": memory[-1][1] if memory else None,
        **({} if own.get("name") else {"library_unknown": ceilings["unknown"].get(f"library {types}", "ours was not measured")}),
        **({"unknown": why[0]} if why and (not memory or "product" not in own) else {}),
    }


def highest(ceilings):
    """The highest rate of operations; None where none is known."""
    rates = [ceilings[f"{kind}_flops_per_s"] for kind in ("product", "library", "fma")]
    return max((rate for rate in rates if rate), default=None)


def bandwidth(steps, size):
    """The highest rate of the sizes that are as large, or larger."""
    large = [step for step in steps if step[0] >= size] or steps[-1:]
    below = [step for step in steps if step[0] < size][-1:]
    return max((rate for _, rate in below + large), default=None)


def roofline(ceilings, flops, moved, seconds, cache=None):
    """{"share", "bound", "least_s", "flops_per_s", "bytes_per_s", "intensity"} of a call that took so long; None without
    ceilings. `moved`: the bytes that the call must move; `cache`: of the last cache."""
    flat, steep = highest(ceilings), bandwidth(ceilings["bytes_per_s"], moved or 0)
    parts = {}
    if flops and flat:
        parts["operations"] = flops / flat
    if moved and steep:
        parts["cache" if cache and moved <= cache else "memory"] = moved / steep
    if not parts:
        return None
    bound = max(parts, key=parts.get)
    return {
        "share": parts[bound] / seconds,
        "bound": bound,
        "least_s": parts[bound],
        "flops_per_s": flat,
        "bytes_per_s": steep,
        "intensity": flops / moved if flops and moved else None,
    }
