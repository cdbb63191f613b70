# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contenders on one machine that take turns, and what is said of them.

Every contender is a process of its own: ours is `tilewright-run`, started for each turn; a library's process stays, and
is stopped (SIGSTOP) while another one is timed, so that no spinning thread of one pool takes the other's time. A time is
the median of a turn's calls; a row has the median over the turns, the spread between their 10th and 90th percentile and
the best turn; `ours / best` is the median of the turns' ratios to the best library.
"""

import argparse
import atexit
import json
import os
import re
import select
import shlex
import signal
import statistics
import subprocess
import sys

OURS = "tilewright"
CLOSE = 0.85
VERDICTS = (f"Verdict: ahead of the best library, close to it ({CLOSE} of it or more), behind it; WRONG where a result is not right, of "
            "which all are checked.\n")


class Worker:
    """A contender that stays, stopped between its turns. It prints facts, a line of JSON, then one for each line it gets."""

    def __init__(self, name, command, threads):
        self.name = name
        count = str(threads)
        environment = {key: value for key, value in os.environ.items()
                       if not re.match("OPENBLAS_|MKL_|DNNL_|ONEDNN_|OMP_|GOTO_", key)}
        environment.update(OPENBLAS_NUM_THREADS=count, MKL_NUM_THREADS=count, OMP_NUM_THREADS=count)
        self.process = subprocess.Popen(list(map(str, command)), text=True, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        # A stopped process would outlive a run that ends by an error, and keep its pipes open.
        atexit.register(self.close)
        self.facts = self.answer()

    def answer(self):
        if not select.select([self.process.stdout], [], [], 600)[0]:
            raise SystemExit(f"{self.name}: no answer in 600 s")
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: ended with {self.process.wait()}")
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line)

    def ask(self, *words):
        self.process.send_signal(signal.SIGCONT)
        print(*words, file=self.process.stdin, flush=True)
        return self.answer()

    def close(self):
        self.process.kill()
        self.process.wait()


class Ours:
    """`tilewright-run` on programs that are compiled once; `configs` has what each of them was compiled to."""

    def __init__(self, tools, folder, threads, target):
        self.name, self.tools, self.folder, self.threads, self.target = OURS, tools, folder, threads, target
        self.facts, self.checked, self.configs = {}, set(), {}

    def turn(self, name, text, inputs, calls):
        """Of program `name`, whose MLIR is `text()`; every element is compared with the oracle in the first turn."""
        artifact = self.folder / f"{name}.tw"
        if not artifact.exists():
            source = self.folder / f"{name}.mlir"
            source.write_text(text())
            subprocess.run([self.tools / "tilewright-compile", source, f"--target={self.target},cpu-reference", "-o", artifact],
                           check=True)
        command = [self.tools / "tilewright-run", artifact, "--device=cpu", "--json", f"--bench={calls}",
                   *(f"--input={value}" for value in inputs)]
        # The oracle takes longer than all turns: once is enough, results have the same bits each time.
        if name not in self.checked:
            command.append("--check=oracle")
        run = subprocess.run(command, capture_output=True, text=True, check=False,
                             env={**os.environ, "TILEWRIGHT_CPU_THREADS": str(self.threads)})
        line = [text for text in run.stdout.splitlines() if text.startswith("{")]
        if not line:
            raise SystemExit(f"error: {' '.join(map(str, command))}: {run.stdout}{run.stderr}")
        answer = json.loads(line[0])
        right = name in self.checked or answer["verdict"] == "ok"
        self.checked.add(name)
        self.configs[name] = "; ".join(answer["config"]["kernels"].values())
        self.facts = {"configuration": answer["driver"]}
        return {"median": answer["median_s"], "ok": right}

    def close(self):
        pass


def take_turns(contenders, rounds, time, flops):
    """A row: of each contender what `time(contender)` gives, {"median": seconds, "ok": bool} or None if it has no such case."""
    seconds, ok = {c.name: [] for c in contenders}, {c.name: True for c in contenders}
    for turn in range(rounds):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            answer = time(contender)
            if answer:
                seconds[contender.name].append(answer["median"])
                ok[contender.name] &= answer["ok"]
    entries = {name: {**summary(s, flops), "ok": ok[name]} for name, s in seconds.items() if s}
    ratio, ratio_of_best = compare(seconds, entries)
    return {"contenders": entries, "ratio": ratio, "ratio_of_best": ratio_of_best}


def summary(seconds, flops):
    rates = sorted(flops / s / 1e9 for s in seconds)
    at = lambda q: rates[min(len(rates) - 1, int(q * len(rates)))]
    middle = statistics.median(rates)
    return {"gflops": middle, "spread": (at(0.9) - at(0.1)) / middle, "best": rates[-1]}


def compare(seconds, entries):
    """Ours over the best library: the median over the turns, each against what that library did in the same turn; and the
    best turns of both, which a busy machine disturbs least."""
    others = [name for name, entry in entries.items() if name != OURS and entry["ok"]]
    if not others:
        return None, None
    turns = [statistics.median(b / a for a, b in zip(seconds[OURS], seconds[name])) for name in others]
    return min(turns), entries[OURS]["best"] / max(entries[name]["best"] for name in others)


def positive(text):
    """An argument that counts something."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of 1 or more")
    return int(text)


def thread_counts(text):
    return [positive(word) for word in text.split(",")]


def verdict(row):
    if not row["contenders"][OURS]["ok"]:
        return "WRONG"
    if not row["ratio"]:
        return "alone"
    return "ahead" if row["ratio"] >= 1 else "close" if row["ratio"] >= CLOSE else "behind"


def table(rows, names, what, peaks=None):
    """Of rows with `type`, `shape`, `threads`; `what` names the shapes, `peaks` are GFLOP/s of one thread by type."""
    lines = [f"| type | {what} | threads | " + " | ".join(names) + " | ours / best | of best turns | verdict | share of peak |",
             "|---" * (7 + len(names)) + "|"]
    for row in rows:
        cells = []
        for name in names:
            entry = row["contenders"].get(name)
            cells.append("–" if not entry else f"{entry['gflops']:.1f} ± {50 * entry['spread']:.0f} %"
                         + ("" if entry["ok"] else " WRONG"))
        top = (peaks or {}).get(row["type"])
        share = f"{row['contenders'][OURS]['gflops'] / top / row['threads']:.2f}" if top else "–"
        ratio = f"{row['ratio']:.2f} | {row['ratio_of_best']:.2f}" if row["ratio"] else "– | –"
        lines.append("| " + " | ".join([row["type"], row["shape"], str(row["threads"]), *cells, ratio, verdict(row), share]) + " |")
    return "\n".join(lines) + "\n"


def means(rows):
    """Geometric means and the least of the ratios, by type and threads, a line each."""
    found = {}
    for row in rows:
        if row["ratio"]:
            found.setdefault((row["type"], row["threads"]), []).append((row["ratio"], row["ratio_of_best"]))
    text = ""
    for (element, threads), ratios in found.items():
        for label, values in zip(("ours / best", "best turns"), zip(*ratios)):
            text += (f"{element}, {threads} thread(s), {label}: geometric mean {statistics.geometric_mean(values):.2f}, "
                     f"least {min(values):.2f}\n")
    return text


def replace(rows, row, *keys):
    """`row` at the end, in place of one that is the same in `keys`."""
    rows[:] = [old for old in rows if any(old[key] != row[key] for key in keys)] + [row]


def read(output, *keys):
    """What results.json of an earlier run in `output` has of `keys`, its rows and others; what is not there is empty."""
    path = output / "results.json" if output else None
    try:
        found = json.loads(path.read_text()) if path and path.exists() else {}
    except ValueError as error:
        raise SystemExit(f"error: {path}: {error}; remove it, or leave --add out") from None
    return [found.get(key, [] if key == "rows" else {}) for key in keys]


def draw(output, rows, what):
    """ratios.png of a run in `output`: ours over the best library, a bar for each row. Without matplotlib it is left out."""
    rows = [row for row in rows if row["ratio"]]
    if not output or not rows:
        return
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("ratios.png is left out: there is no matplotlib", file=sys.stderr)
        return
    colors = {"ahead": "#2a7f3f", "close": "#4878a8", "behind": "#b8442c", "WRONG": "#000000"}
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.24 * len(rows)), layout="constrained")
    places = range(len(rows), 0, -1)
    axes.barh(places, [row["ratio"] for row in rows], color=[colors[verdict(row)] for row in rows])
    axes.set_yticks(places, [f"{row['type']} {row['shape']}, {row['threads']} thr." for row in rows], fontsize=8)
    axes.set_ylim(0.4, len(rows) + 0.6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel(f"ours / best library, by {what}; 1: as fast")
    axes.legend(handles=[pyplot.Rectangle((0, 0), 1, 1, color=colors[name], label=name) for name in list(colors)[:3]],
                loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False, fontsize=8)
    figure.savefig(output / "ratios.png", dpi=110, metadata={"Software": None})


PATHS = ("--output", "--build", "--iree", "--mkl", "--torch", "--torch-mlir", "--python")  # options that name places of one machine


def options_of(words):
    """What of a command line decides what is measured, as it would be typed again."""
    kept, words = [], list(words)
    while words:
        word = words.pop(0)
        if word.split("=")[0] in PATHS:
            if "=" not in word and words:
                words.pop(0)
        else:
            kept.append(word)
    return shlex.join(kept)


def write(output, title, command, text, found):
    """README.md and results.json of a run in `output`, if that is given. What is there is replaced at once, never in part."""
    command = f"{command} {options_of(sys.argv[1:])}".strip()
    if not output:
        return
    output.mkdir(parents=True, exist_ok=True)
    for name, content in (("results.json", json.dumps(found, indent=1) + "\n"),
                          ("README.md", f"# {title}\n\nWritten by `{command}`.\n\n{text}")):
        part = output / f"{name}.part"
        part.write_text(content)
        part.replace(output / name)
