# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command tilewright-sweep."""

import pathlib
import re
import sys

from tilewright_sweep import best, bundle, journal, problems, processes, run, session
from tilewright_sweep.options import make_parser, running_bundle


def plan_command(arguments):
    from tilewright_sweep import plan

    options = [f"--fp={arguments.fp}"] if arguments.fp else []
    if arguments.command == "suite":
        found = [p for path in arguments.suites for p in problems.read_suite(path) if arguments.match in p["name"]]
    else:
        sizes, choices = problems.OPS[arguments.command]
        entry = {"op": arguments.command, "dynamic": arguments.dynamic.split(",")}
        entry.update({d: problems.parse_sizes(str(getattr(arguments, d) or 0)) for d in sizes})
        entry.update({c: getattr(arguments, c).split(",") for c in choices})
        found = problems.expand(entry)
    if not found:
        raise problems.ProblemError("no problem is called so")
    made = plan.make_plan(
        found,
        arguments.output,
        arguments.target,
        options,
        arguments.candidates,
        arguments.seed,
        [p for p in arguments.programs.split(",") if p],
        print if arguments.space else None,
    )
    print(
        f"{arguments.output}: {len(made['problems'])} problems, {len(made['candidates'])} candidates for {made['target']}"
    )
    return 0


def compile_command(arguments):
    from tilewright_sweep import build, executors, plan
    from tilewright_sweep.predict import chips

    made = plan.read_plan(arguments.folder)
    candidates = plan.of_shard(made["candidates"], arguments.shard)
    limits = {"seconds": arguments.timeout, "memory": arguments.max_memory}
    output = arguments.output or arguments.folder.rstrip("/") + ".twb"
    if not arguments.shard:
        build.check_output(output)
    if arguments.predict:
        chips.Chip(arguments.predict)  # a name that is none is an error now
    with executors.open_executor(arguments.executor) as executor:
        entries = build.build(made, arguments.folder, candidates, executor, limits)
    failed = [e for e in entries.values() if not e["ok"]]
    print(
        f"{len(entries)} candidates: {len(entries) - len(failed)} compiled, to "
        f"{len({e['artifact'] for e in entries.values() if e['ok']})} different artifacts; {len(failed)} refused or failed"
    )
    for how in sorted({e["ended"] for e in failed if e["ended"]}):
        print(f"  {sum(e['ended'] == how for e in failed)} by {how}")
    if failed and len(failed) == len(entries):
        raise ValueError(f"{arguments.folder}: nothing was compiled; the first: {failed[0]['diagnostics']}")
    if arguments.shard:
        return 0
    predicted = predictions(arguments.folder, entries, arguments.predict) if arguments.predict else None
    print(f"{output}: {bundle.write_bundle(output, made, arguments.folder, entries, predicted) / 2**20:.1f} MiB")
    return 0


def predictions(folder, entries, chip, form="auto"):
    """{artifact: prediction} of what was compiled."""
    from tilewright_sweep import build
    from tilewright_sweep.predict import artifact, chips

    names = {e["artifact"] for e in entries.values() if e["ok"]}
    return artifact.predict_all(folder, names, chips.Chip(chip), build.Progress(len(names), "predict"), form)


def three(option, text):
    """One to three extents; those that are not said are 1."""
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*){0,2}", text):
        raise ValueError(f"{option}={text}: expected one to three positive numbers, X or X,Y or X,Y,Z")
    return ([int(part) for part in text.split(",")] + [1, 1])[:3]


def predict_command(arguments):
    from tilewright_sweep import build, plan
    from tilewright_sweep.predict import artifact, chips, predict

    what = pathlib.Path(arguments.what)
    if what.suffix in (".tw", ".mlir"):
        try:
            for line in artifact.describe_program(what, chips.Chip(arguments.chip), arguments.form):
                print(line, flush=True)
        except artifact.NotPredictable as error:
            raise ValueError(f"{what}: {error}") from None
        return 0
    if not what.is_dir():
        made = predict.of_ptx(
            chips.Chip(arguments.chip),
            arguments.what,
            arguments.entry,
            three("--grid", arguments.grid),
            three("--block", arguments.block),
            arguments.arg,
            artifact.tool("tilewright-run"),
            arguments.shared,
            cluster=three("--cluster", arguments.cluster),
            form=arguments.form,
        )
        print("\n".join(made.lines()))
        return 0
    made = plan.read_plan(arguments.what)
    found = build.known_entries(made, arguments.what)
    if not any(entry["ok"] for entry in found.values()):
        raise ValueError(f"{arguments.what}: nothing is compiled; tilewright-sweep compile {arguments.what}")
    said = predictions(arguments.what, found, arguments.chip, arguments.form)
    for problem in made["problems"]:
        mine = [c for c in made["candidates"] if c["problem"] == problem["name"] and found.get(c["id"], {}).get("ok")]
        rows = [(said[found[c["id"]]["artifact"]], c["config"]) for c in mine]
        print(f"{problem['name']}: predicted on {chips.Chip(arguments.chip).name}")
        for row, config in sorted(rows, key=lambda row: row[0].get("seconds", float("inf"))):
            if "error" in row:
                print(f"    not predicted: {row['error']}: {config}")
            else:
                print(
                    f"    {row['seconds'] * 1e6:10.1f} µs  {row['resource']:10} {row['registers']:4} registers  "
                    f"{row['spills']:4} bytes spilled  {config}" + ("; by the closed form" if "instead" in row else "")
                )
    return 0


def run_command(arguments):
    path = running_bundle() or arguments.bundle
    output = arguments.output or run.default_journal(path)
    options = {
        "shard": arguments.shard,
        "match": arguments.match,
        "budget": run.parse_duration(arguments.budget),
        "timeout": arguments.timeout,
        "check_only": arguments.check_only,
        "cold": not arguments.no_cold,
    }
    opened = bundle.Bundle(path)
    try:
        several = len(arguments.device) > 1 or "*" in arguments.device[0]
        if not several and not arguments.executor:
            return run.run_bundle(opened, arguments.device[0], output, wait=arguments.wait, **options)
        from tilewright_sweep import executors, spread

        with executors.open_executor(arguments.executor or "local") as executor:
            return spread.run_spread(path, opened, arguments.device, output, executor, **options)
    finally:
        opened.close()


def bundle_command(arguments):
    from tilewright_sweep import on_gpu

    size = on_gpu.make(
        arguments.output,
        arguments.targets,
        [s for s in arguments.suites.split(",") if s],
        arguments.cases,
        arguments.sweep,
        arguments.python,
        arguments.ladder,
    )
    print(f"{arguments.output}: {size / 2**20:.1f} MiB")
    return 0


def session_command(arguments):
    return session.start(
        running_bundle() or arguments.bundle,
        arguments.steps,
        arguments.output,
        arguments.device,
        arguments.minutes,
        arguments.python,
        arguments.seconds,
        arguments.slow_peers,
    )


def best_command(arguments):
    records = [r for r in journal.read_results(arguments.results) if "candidate" in r]
    if not records:
        raise ValueError(f"{', '.join(map(str, arguments.results))}: no results of a sweep are there")
    records = [r for r in records if arguments.device in f"{r['device']} {r['uuid']} {r['driver']}"]
    if not records:
        raise ValueError(f"there are no results of a device '{arguments.device}'")
    chosen = best.best_records(records, arguments.mix, arguments.least_gain)
    best.write_database(arguments.output, chosen)
    kernels = {(r["program"], r["problem"]["name"], r["kernel"]) for r in records if r["kernel"]}
    print(f"{arguments.output}: {len(chosen)} records; the default stands for the rest of {len(kernels)} kernels")
    return 0


def confirm_command(arguments):
    from tilewright_sweep import plan

    made = plan.make_confirmation(
        plan.read_plan(arguments.folder), arguments.folder, arguments.tuning, arguments.output
    )
    print(f"{arguments.output}: {len(made['problems'])} problems, as compiled and tuned")
    return 0


def merge_command(arguments):
    what, count = best.merge(arguments.files, arguments.output)
    print(f"{arguments.output}: {count} {what}")
    return 0


def report_command(arguments):
    from tilewright_sweep import report

    return report.write_report(arguments.results, arguments.output, arguments.before)


COMMANDS = {
    "bundle": bundle_command,
    "session": session_command,
    "confirm": confirm_command,
    "compile": compile_command,
    "predict": predict_command,
    "run": run_command,
    "best": best_command,
    "merge": merge_command,
    "report": report_command,
}


def main(argv=None):
    arguments = make_parser().parse_args(argv)
    try:
        return COMMANDS.get(arguments.command, plan_command)(arguments)
    except (RuntimeError, ValueError, OSError, processes.Interrupted) as error:
        print(f"tilewright-sweep: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tilewright-sweep: interrupted; start again to go on", file=sys.stderr)
        return 130
