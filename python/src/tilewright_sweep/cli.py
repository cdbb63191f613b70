# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command tilewright-sweep."""

import argparse
import pathlib
import re
import sys

import tilewright_sweep
from tilewright_sweep import best, bundle, journal, problems, processes, run, session

HELP = """Finds the best lowering configs of a suite of problems, by measuring; docs/sweeping.md tells how.

    tilewright-sweep gemm --m=512 --n=512 --k=512,4096 --types=f16:f32 --target=cuda:sm_80 -o sweep
    tilewright-sweep compile sweep -o sweep.twb
    tilewright-sweep run sweep.twb --device=cuda:0 -o results.jsonl      (there: python3 sweep.twb run …)
    tilewright-sweep best results.jsonl -o tuning.json
    tilewright-compile model.mlir --target=cuda:sm_80 --tuning=tuning.json
"""


def seconds(text):
    """For argparse: a timeout."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number <= 1e9:
        raise argparse.ArgumentTypeError(f"'{text}': expected seconds, more than 0 and at most 1e9")
    return number


def memory_size(text):
    """For argparse: a size as tilewright-compile --max-memory takes it."""
    if not re.fullmatch(r"0*[1-9][0-9]*[kmgt]?i?b?", text, re.IGNORECASE):
        raise argparse.ArgumentTypeError(f"'{text}': expected a size, as 500M or 4G")
    return text


def add_planning(parser):
    parser.add_argument("--target", required=True, help="one target of tilewright-compile: cuda:sm_80, vulkan, cpu")
    parser.add_argument("-o", "--output", default="sweep", help="folder for the plan (%(default)s)")
    parser.add_argument(
        "--candidates",
        type=int,
        default=64,
        metavar="N",
        help="at most so many of each kernel: the default, the better half by rank, others at random (%(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the choice at random (%(default)s)")
    parser.add_argument(
        "--programs", default="", help="only kernels of these programs of the target, with commas: cpu_v4"
    )
    parser.add_argument("--fp", help="as for tilewright-compile")
    parser.add_argument(
        "--space", action="store_true", help="print how many configs each kernel has, and why others were left out"
    )


def add_op(subparsers, name):
    sizes, choices = problems.OPS[name]
    parser = subparsers.add_parser(name, help=f"a plan for {name}: lists are multiplied with each other")
    for dim, default in sizes.items():
        parser.add_argument(
            f"--{dim}",
            required=default is None,
            default=default and str(default),
            metavar="SIZES",
            help=problems.HELP.get(dim, "64,128:1024:*2") + (f" ({default})" if default is not None else ""),
        )
    for choice, default in choices.items():
        known = problems.CHOICES.get((name, choice))
        said = [problems.HELP[choice]] if choice in problems.HELP else []
        said += [", ".join(known)] if known else []
        parser.add_argument(
            f"--{choice}",
            default=default,
            help="; ".join([*said, "several with commas between them"]) + (" (%(default)s)" if default else ""),
        )
    dims = problems.OPEN.get(name, sizes)
    parser.add_argument("--dynamic", default="", help="dims that the program leaves open, with + between them: " + ", ".join(dims))
    add_planning(parser)


def make_parser():
    parser = argparse.ArgumentParser(
        "tilewright-sweep", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"tilewright-sweep, schema {tilewright_sweep.SCHEMA}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in problems.OPS:
        add_op(subparsers, name)
    suite = subparsers.add_parser("suite", help="a plan for suites: files of JSON, or folders of perf/suites")
    suite.add_argument("suites", nargs="+")
    suite.add_argument("--match", default="", help="only problems with this text in their names")
    add_planning(suite)
    compile_ = subparsers.add_parser(
        "compile", help="all candidates of a plan, to one file that holds everything to measure"
    )
    compile_.add_argument("folder")
    compile_.add_argument("-o", "--output", help="the bundle (FOLDER.twb)")
    compile_.add_argument(
        "--executor", default="local", help="local[:N], mpi, dask:ADDRESS, slurm[:ARGS] (%(default)s)"
    )
    compile_.add_argument("--timeout", type=seconds, default=60, help="seconds of a candidate (%(default)g)")
    compile_.add_argument("--max-memory", type=memory_size, default="4G", help="of a compiler (%(default)s)")
    compile_.add_argument(
        "--shard", help="i/n: only this part of the candidates, into the folder's cache, and no bundle"
    )
    compile_.add_argument(
        "--predict", metavar="CHIP", help="predict the time of each candidate on a chip, for records and the report"
    )
    guess = subparsers.add_parser(
        "predict",
        help="predicted times on a chip that is not here: of a program, a PTX file, or all candidates of a compiled plan",
    )
    guess.add_argument("what", help="an artifact (.tw), .mlir, a file of PTX, or the folder of a plan")
    guess.add_argument("--chip", required=True, help="a key of chips.json, as a100 or h100; one that is not there is answered with all")
    guess.add_argument("--entry", help="of a file with several kernels")
    guess.add_argument("--grid", default="1", help="of a file: blocks, 32,32")
    guess.add_argument("--block", default="32", help="of a file: threads of a block, 16,16")
    guess.add_argument("--cluster", default="1", help="of a file: blocks of a cluster, 2,1")
    guess.add_argument("--shared", type=int, default=0, help="of a file: dynamic shared memory of a block in bytes")
    guess.add_argument("--arg", action="append", default=[], help="of a file: as for tilewright-run, in order")
    guess.add_argument(
        "--form",
        choices=("auto", "events", "closed"),
        default="auto",
        help="events: simulate the warps of a multiprocessor, which needs ptxas and nvdisasm; closed: the busiest resource; "
        "auto: events where these tools are (%(default)s)",
    )
    measure = subparsers.add_parser("run", help="measures a bundle; needs no compiler")
    if not running_bundle():
        measure.add_argument("bundle")
    measure.add_argument(
        "--device",
        required=True,
        action="append",
        help="as tilewright-run --list-devices names it, or cpu@0-3 for some processors; again for more, cuda:* for all "
        "that there are: they share the problems",
    )
    measure.add_argument(
        "--executor",
        help="where tasks run that measure, a problem each: local[:N], mpi, dask:ADDRESS, slurm[:ARGS] (with several "
        "devices local, a task for each)",
    )
    measure.add_argument("-o", "--output", help="the journal, which is added to (BUNDLE.jsonl)")
    measure.add_argument("--budget", default="inf", help="time for all: 90s, 10m, 2h; run again to go on")
    measure.add_argument(
        "--timeout", type=seconds, default=60, help="seconds without a sign of life of a candidate (%(default)g)"
    )
    measure.add_argument(
        "--check-only", action="store_true", help="hold results against what is right, and time nothing"
    )
    measure.add_argument("--no-cold", action="store_true", help="do not measure with an empty cache")
    measure.add_argument("--match", default="", help="only problems with this text in their names")
    measure.add_argument("--shard", help="i/n: only this part of the problems")
    measure.add_argument("--wait", action="store_true", help="wait for a device that is being measured")
    box = subparsers.add_parser(
        "bundle", help="everything to ask of a GPU that is borrowed, to one file; from the sources of Tilewright"
    )
    box.add_argument("--targets", default="cuda:sm_80,cuda:sm_90a,vulkan", help="of the cases and suites (%(default)s)")
    box.add_argument("--suites", default="", help="suites to time beside peers, with commas: folders of perf/suites, or paths (all)")
    box.add_argument("--cases", default="*", help="of the end-to-end suite, FAMILY/TYPE/SHAPE/LABEL (all)")
    box.add_argument(
        "--sweep", action="append", default=[], metavar="FILE", help="a bundle to sweep over; again for more"
    )
    box.add_argument(
        "--ladder", choices=("full", "tiny"), default="full", help="tiny: sizes that a simulator can do (%(default)s)"
    )
    box.add_argument("--python", default=sys.executable, help="one with NumPy, for the end-to-end suite")
    box.add_argument("-o", "--output", default="on-gpu.twb", help="%(default)s")
    ask = subparsers.add_parser("session", help="what `bundle` made, on the machine with the GPU, step by step")
    if not running_bundle():
        ask.add_argument("bundle")
    ask.add_argument(
        "steps",
        nargs="*",
        metavar="STEP[=MINUTES]",
        help="build cts e2e confirm sweep ladder bench; all without one",
    )
    ask.add_argument(
        "--device", action="append", default=[], help="again for more (cuda, and vulkan where that is a GPU)"
    )
    ask.add_argument("--minutes", type=float, default=8, help="at most, of a step that has none of its own (%(default)g)")
    ask.add_argument("--seconds", type=float, help="of measuring, per contender of ladder and bench (theirs)")
    ask.add_argument("--python", default=sys.executable, help="one with PyTorch, for the steps ladder and bench")
    ask.add_argument("-o", "--output", default="results", help="folder (%(default)s)")
    keep = subparsers.add_parser("best", help="results to a tuning database")
    keep.add_argument("results", nargs="+")
    keep.add_argument("-o", "--output", default="tuning.json", help="%(default)s")
    keep.add_argument(
        "--device", default="", help="only results with this text in the device's name, UUID or description"
    )
    keep.add_argument("--mix", action="store_true", help="take results of several devices, drivers or compilers")
    keep.add_argument("--least-gain", type=float, default=best.LEAST_GAIN, help="over the default (%(default)g)")
    confirm = subparsers.add_parser(
        "confirm", help="a plan that holds a database against the defaults, to compile and run"
    )
    confirm.add_argument("folder", help="of the plan that the database comes from, or of other problems")
    confirm.add_argument("--tuning", required=True, metavar="FILE")
    confirm.add_argument("-o", "--output", default="confirm", help="folder (%(default)s)")
    together = subparsers.add_parser("merge", help="databases to one, or results to one")
    together.add_argument("files", nargs="+")
    together.add_argument("-o", "--output", required=True)
    page = subparsers.add_parser("report", help="results to a page, and pictures where matplotlib is")
    page.add_argument("results", nargs="+")
    page.add_argument("-o", "--output", default="report", help="folder (%(default)s)")
    page.add_argument("--before", nargs="*", default=[], help="earlier results, to mark what became slower")
    return parser


def running_bundle():
    """The path of the bundle that this process was started as, if it was."""
    place = pathlib.Path(sys.argv[0] or ".")
    return (
        place
        if place.is_file() and place.suffix != ".py" and (bundle.is_bundle(place) or session.is_session(place))
        else None
    )


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
