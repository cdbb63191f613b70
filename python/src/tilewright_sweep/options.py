# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of the command tilewright-sweep."""

import argparse
import pathlib
import re
import sys

import tilewright_sweep
from tilewright_sweep import best, bundle, problems, session

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


def running_bundle():
    """The path of the bundle that this process was started as, if it was."""
    place = pathlib.Path(sys.argv[0] or ".")
    return (
        place
        if place.is_file() and place.suffix != ".py" and (bundle.is_bundle(place) or session.is_session(place))
        else None
    )


def add_suite(subparsers):
    parser = subparsers.add_parser("suite", help="a plan for suites: files of JSON, or folders of perf/suites")
    parser.add_argument("suites", nargs="+")
    parser.add_argument("--match", default="", help="only problems with this text in their names")
    add_planning(parser)


def add_compile(subparsers):
    parser = subparsers.add_parser(
        "compile", help="all candidates of a plan, to one file that holds everything to measure"
    )
    parser.add_argument("folder")
    parser.add_argument("-o", "--output", help="the bundle (FOLDER.twb)")
    parser.add_argument(
        "--executor", default="local", help="local[:N], mpi, dask:ADDRESS, slurm[:ARGS] (%(default)s)"
    )
    parser.add_argument("--timeout", type=seconds, default=60, help="seconds of a candidate (%(default)g)")
    parser.add_argument("--max-memory", type=memory_size, default="4G", help="of a compiler (%(default)s)")
    parser.add_argument(
        "--shard", help="i/n: only this part of the candidates, into the folder's cache, and no bundle"
    )
    parser.add_argument(
        "--predict", metavar="CHIP", help="predict the time of each candidate on a chip, for records and the report"
    )


def add_predict(subparsers):
    parser = subparsers.add_parser(
        "predict",
        help="predicted times on a chip that is not here: of a program, a PTX file, or all candidates of a compiled plan",
    )
    parser.add_argument("what", help="an artifact (.tw), .mlir, a file of PTX, or the folder of a plan")
    parser.add_argument("--chip", required=True, help="a key of chips.json, as a100 or h100; one that is not there is answered with all")
    parser.add_argument("--entry", help="of a file with several kernels")
    parser.add_argument("--grid", default="1", help="of a file: blocks, 32,32")
    parser.add_argument("--block", default="32", help="of a file: threads of a block, 16,16")
    parser.add_argument("--cluster", default="1", help="of a file: blocks of a cluster, 2,1")
    parser.add_argument("--shared", type=int, default=0, help="of a file: dynamic shared memory of a block in bytes")
    parser.add_argument("--arg", action="append", default=[], help="of a file: as for tilewright-run, in order")
    parser.add_argument(
        "--form",
        choices=("auto", "events", "closed"),
        default="auto",
        help="events: simulate the warps of a multiprocessor, which needs ptxas and nvdisasm; closed: the busiest resource; "
        "auto: events where these tools are (%(default)s)",
    )


def add_run(subparsers):
    parser = subparsers.add_parser("run", help="measures a bundle; needs no compiler")
    if not running_bundle():
        parser.add_argument("bundle")
    parser.add_argument(
        "--device",
        required=True,
        action="append",
        help="as tilewright-run --list-devices names it, or cpu@0-3 for some processors; again for more, cuda:* for all "
        "that there are: they share the problems",
    )
    parser.add_argument(
        "--executor",
        help="where tasks run that measure, a problem each: local[:N], mpi, dask:ADDRESS, slurm[:ARGS] (with several "
        "devices local, a task for each)",
    )
    parser.add_argument("-o", "--output", help="the journal, which is added to (BUNDLE.jsonl)")
    parser.add_argument("--budget", default="inf", help="time for all: 90s, 10m, 2h; run again to go on")
    parser.add_argument(
        "--timeout", type=seconds, default=60, help="seconds without a sign of life of a candidate (%(default)g)"
    )
    parser.add_argument(
        "--check-only", action="store_true", help="hold results against what is right, and time nothing"
    )
    parser.add_argument("--no-cold", action="store_true", help="do not measure with an empty cache")
    parser.add_argument("--match", default="", help="only problems with this text in their names")
    parser.add_argument("--shard", help="i/n: only this part of the problems")
    parser.add_argument("--wait", action="store_true", help="wait for a device that is being measured")


def add_bundle(subparsers):
    parser = subparsers.add_parser(
        "bundle", help="everything to ask of a GPU that is borrowed, to one file; from the sources of Tilewright"
    )
    parser.add_argument("--targets", default="cuda:sm_80,cuda:sm_90a,vulkan", help="of the cases and suites (%(default)s)")
    parser.add_argument("--suites", default="", help="suites to time beside peers, with commas: folders of perf/suites, or paths (all)")
    parser.add_argument("--cases", default="*", help="of the end-to-end suite, FAMILY/TYPE/SHAPE/LABEL (all)")
    parser.add_argument(
        "--sweep", action="append", default=[], metavar="FILE", help="a bundle to sweep over; again for more"
    )
    parser.add_argument(
        "--ladder", choices=("full", "tiny"), default="full", help="tiny: sizes that a simulator can do (%(default)s)"
    )
    parser.add_argument("--python", default=sys.executable, help="one with NumPy, for the end-to-end suite")
    parser.add_argument("-o", "--output", default="on-gpu.twb", help="%(default)s")


def add_session(subparsers):
    parser = subparsers.add_parser("session", help="what `bundle` made, on the machine with the GPU, step by step")
    if not running_bundle():
        parser.add_argument("bundle")
    parser.add_argument(
        "steps",
        nargs="*",
        metavar="STEP[=MINUTES]",
        help="build cts e2e confirm sweep ladder bench; all without one",
    )
    parser.add_argument(
        "--device", action="append", default=[], help="again for more (cuda, and vulkan where that is a GPU)"
    )
    parser.add_argument("--minutes", type=float, default=8, help="at most, of a step that has none of its own (%(default)g)")
    parser.add_argument("--seconds", type=float, help="of measuring, per contender of ladder and bench (theirs)")
    parser.add_argument("--python", default=sys.executable, help="one with PyTorch, for the steps ladder and bench")
    parser.add_argument("--slow-peers", action="store_true", help="torch.compile beside the others in bench: seconds for each problem")
    parser.add_argument("-o", "--output", default="results", help="folder (%(default)s)")


def add_best(subparsers):
    parser = subparsers.add_parser("best", help="results to a tuning database")
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", default="tuning.json", help="%(default)s")
    parser.add_argument(
        "--device", default="", help="only results with this text in the device's name, UUID or description"
    )
    parser.add_argument("--mix", action="store_true", help="take results of several devices, drivers or compilers")
    parser.add_argument("--least-gain", type=float, default=best.LEAST_GAIN, help="over the default (%(default)g)")


def add_confirm(subparsers):
    parser = subparsers.add_parser(
        "confirm", help="a plan that holds a database against the defaults, to compile and run"
    )
    parser.add_argument("folder", help="of the plan that the database comes from, or of other problems")
    parser.add_argument("--tuning", required=True, metavar="FILE")
    parser.add_argument("-o", "--output", default="confirm", help="folder (%(default)s)")


def add_merge(subparsers):
    parser = subparsers.add_parser("merge", help="databases to one, or results to one")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)


def add_report(subparsers):
    parser = subparsers.add_parser("report", help="results to a page, and pictures where matplotlib is")
    parser.add_argument("results", nargs="+")
    parser.add_argument("-o", "--output", default="report", help="folder (%(default)s)")
    parser.add_argument("--before", nargs="*", default=[], help="earlier results, to mark what became slower")


def make_parser():
    parser = argparse.ArgumentParser(
        "tilewright-sweep", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"tilewright-sweep, schema {tilewright_sweep.SCHEMA}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in problems.OPS:
        add_op(subparsers, name)
    for add in (
        add_suite,
        add_compile,
        add_predict,
        add_run,
        add_bundle,
        add_session,
        add_best,
        add_confirm,
        add_merge,
        add_report,
    ):
        add(subparsers)
    return parser
