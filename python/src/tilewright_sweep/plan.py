# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a sweep: a folder with its problems as programs, and plan.json with the candidates of each.

    FOLDER/plan.json           {"schema", "target", "options", "compiler", "problems": [...], "candidates": [...]}
    FOLDER/problems/NAME.mlir

Candidate 0 of each problem is the default: nothing is pinned, and the compiler decides. Every other one pins the config
of one kernel. A plan that confirms a database has, beside the defaults, a candidate per problem for which the compiler
reads that database. A candidate has an id that depends on what it is, not on its place.
"""

import hashlib
import json
import pathlib
import random
import re

import tilewright_sweep
from tilewright_sweep import compiler as compilers
from tilewright_sweep.build import write_whole
from tilewright_sweep.problems import ProblemError


def _short(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def choose(configs, most, seed, name):
    """At most `most` of ranked configs, less the first, the default: the better half by rank, others at random."""
    rest = configs[1:]
    if most <= 1 or len(rest) < most:
        return rest[: max(most - 1, 0)] if len(rest) >= most else rest
    head = (most - 1 + 1) // 2
    tail = sorted(random.Random(f"{seed} {name}").sample(range(head, len(rest)), most - 1 - head))
    return rest[:head] + [rest[i] for i in tail]


def tag_of(program, target):
    """What names of variants of that program end with: "_v4" for cpu_v4, nothing where the target has one program."""
    base = re.sub(r"\W", "_", target)
    return program[len(base) :] if program.startswith(base) else ""


def describe_space(problem, kernel, chosen):
    """What --space prints of a kernel."""
    lines = [
        f"{problem['name']}: {kernel['program']} {kernel['kernel']}: {len(kernel['configs'])} configs fit, "
        f"{chosen + 1} are candidates"
    ]
    refused = sorted(kernel["refused"].items(), key=lambda item: (-item[1], item[0]))
    if refused:
        lines.append(f"    {sum(kernel['refused'].values())} refused: " + ", ".join(f"{count} {kind}" for kind, count in refused))
    lines += [f"    {line}" for line in kernel["explain"] if line.startswith(("refused ", "not on matrix units"))]
    return "\n".join(lines)


def make_plan(problems, folder, target, options=(), most=64, seed=0, programs=(), space=None):
    """Writes a plan; `space`: called with a text per kernel. `programs`: only kernels of these (cpu_v4)."""
    if "," in target:
        raise ProblemError("a sweep is for one target; make a plan for each")
    folder = pathlib.Path(folder)
    (folder / "problems").mkdir(parents=True, exist_ok=True)
    path = compilers.find_compiler()
    server = compilers.Server(path, target, options)
    planned, candidates, seen = [], [], set()
    for problem in problems:
        if problem["name"] in seen:
            raise ProblemError(f"two problems are called '{problem['name']}'")
        seen.add(problem["name"])
        program = folder / "problems" / f"{problem['name']}.mlir"
        program.write_text(problem["mlir"])
        reply = server.ask({"id": problem["name"], "input": str(program), "list": True})
        if not reply["ok"]:
            raise ProblemError(f"{problem['name']}: {reply['diagnostics'].strip()}")
        kept = {k: v for k, v in problem.items() if k != "mlir"}
        kept["kernels"] = [
            {
                "program": k["program"],
                "kernel": k["kernel"],
                "problem": k["problem"],
                "shape": k["shape"],
                "tag": tag_of(k["program"], target),
                "default": k["configs"][0],
                "fit": len(k["configs"]),
            }
            for k in reply["kernels"]
            if not programs or k["program"] in programs
        ]
        if not kept["kernels"]:
            raise ProblemError(
                f"{problem['name']}: no kernel of {', '.join(programs)}; the target has "
                + ", ".join(sorted({k["program"] for k in reply["kernels"]}))
            )
        planned.append(kept)
        candidates.append(
            {
                "id": _short(problem["mlir"], target, *options, "default"),
                "problem": problem["name"],
                "kernel": None,
                "program": None,
                "config": "default",
            }
        )
        for kernel in reply["kernels"]:
            if programs and kernel["program"] not in programs:
                continue
            chosen = choose(kernel["configs"], most, seed, problem["name"] + kernel["kernel"])
            if space:
                space(describe_space(problem, kernel, len(chosen)))
            candidates += [
                {
                    "id": _short(problem["mlir"], target, *options, kernel["kernel"], kernel["program"], config),
                    "problem": problem["name"],
                    "kernel": kernel["kernel"],
                    "program": kernel["program"],
                    "config": config,
                }
                for config in chosen
            ]
    server.close()
    plan = {
        "schema": tilewright_sweep.SCHEMA,
        "target": target,
        "options": list(options),
        "seed": seed,
        "compiler": compilers.identify(path),
        "problems": planned,
        "candidates": candidates,
    }
    write_whole(folder / "plan.json", (json.dumps(plan, indent=1) + "\n").encode())
    return plan


def make_confirmation(plan, folder, tuning, into):
    """A plan that holds what a database makes of the problems of `plan` against their defaults."""
    text, into = pathlib.Path(tuning).read_text(), pathlib.Path(into)
    (into / "problems").mkdir(parents=True, exist_ok=True)
    (into / "tuning.json").write_text(text)
    candidates = []
    for problem in plan["problems"]:
        program = (pathlib.Path(folder) / "problems" / f"{problem['name']}.mlir").read_text()
        (into / "problems" / f"{problem['name']}.mlir").write_text(program)
        candidates += [c for c in plan["candidates"] if c["problem"] == problem["name"] and c["config"] == "default"]
        candidates.append(
            {
                **candidates[-1],
                "id": _short(candidates[-1]["id"], text),
                "config": "tuned",
                "tuning": str((into / "tuning.json").resolve()),
            }
        )
    made = {**plan, "candidates": candidates}
    write_whole(into / "plan.json", (json.dumps(made, indent=1) + "\n").encode())
    return made


def read_plan(folder):
    path = pathlib.Path(folder) / "plan.json"
    try:
        plan = json.loads(path.read_text())
    except FileNotFoundError:
        raise ProblemError(f"{folder} is no folder of a plan: it has no plan.json; tilewright-sweep gemm and others make one") from None
    if plan.get("schema") != tilewright_sweep.SCHEMA:
        raise ProblemError(f"{path}: schema {plan.get('schema')} is not {tilewright_sweep.SCHEMA}")
    return plan


def of_shard(items, shard):
    """Those of "i/n": every n-th from the i-th on, counted from 1; so that all shards together are everything, once."""
    if not shard:
        return items
    match = re.fullmatch(r"(\d+)/(\d+)", shard)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ProblemError(f"--shard is i/n with i from 1 to n, not '{shard}'")
    return items[int(match[1]) - 1 :: int(match[2])]
