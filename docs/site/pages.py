# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the site's pages into a folder: pages.py BUILD OUTPUT (called by scripts/docs).

Copied: docs/*.md and the READMEs that PAGES names, with their links bent to the site. Made: stages.md from the compiler,
dialect.md and passes.md from TableGen, coverage.md from the reports
of the end-to-end suite.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import coverage

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLEGEN = "mlir-tblgen-22"
INCLUDES = [f"-I{ROOT}/include", "-I/usr/lib/llvm-22/include"]

# Files of the repository that are pages, beside docs/*.md.
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "tools/tilewright-run/README.md": "tilewright-run.md",
         "perf/README.md": "measuring.md", "gpu-runtime/ptxsim/README.md": "ptxsim.md", "examples/raw/README.md": "raw.md", "examples/embed/README.md": "embed.md"}

MADE = ("stages.md", "dialect.md", "passes.md", "coverage.md")

PROGRAM = """func.func @layer(%x: tensor<256x512xf16>, %w: tensor<512x128xf16>, %b: tensor<128xf32>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %p = linalg.matmul ins(%x, %w : tensor<256x512xf16>, tensor<512x128xf16>) outs(%z : tensor<256x128xf32>) -> tensor<256x128xf32>
  %s = linalg.broadcast ins(%b : tensor<128xf32>) outs(%e : tensor<256x128xf32>) dimensions = [0]
  %a = linalg.add ins(%p, %s : tensor<256x128xf32>, tensor<256x128xf32>) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %l = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %r = linalg.max ins(%a, %l : tensor<256x128xf32>, tensor<256x128xf32>) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %r : tensor<256x128xf32>
}
"""


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout


def check_versions():
    """The table of docs/abi.md has the versions of the code."""
    header = (ROOT / "gpu-runtime/include/tilewright/program_abi.h").read_text(encoding="utf-8")
    version = re.search(r"TW_PROGRAM_ABI_VERSION (\d+)u", header).group(1)
    if f"| host program | {version} |" not in (ROOT / "docs/abi.md").read_text(encoding="utf-8"):
        raise SystemExit(f"pages.py: error: docs/abi.md: the host program's interface has version {version}")


def bend_links(text, source, pages):
    """Links to files that are pages become links to those; others become names of files."""

    def bend(match):
        label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        file = (source.parent / path).resolve().relative_to(ROOT)
        page = pages.get(str(file)) or pages.get(str(file / "README.md"))
        if page:
            return f"[{label}]({page}{'#' + anchor if anchor else ''})"
        if not (ROOT / file).exists():
            raise SystemExit(f"pages.py: error: {source.relative_to(ROOT)}: no file '{target}'")
        return label if label == str(file) else f"{label} (`{file}`)"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", bend, text)


def copy_pages(output):
    pages = {**PAGES, **{f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.md")}}
    pages.update((f"docs/{page}", page) for page in MADE)
    copied = {file: page for file, page in pages.items() if (ROOT / file).exists()}
    for file, page in copied.items():
        source = ROOT / file
        (output / page).write_text(bend_links(source.read_text(), source, pages))


def shorten(text, limit=90):
    """The first lines of a stage's IR; the rest is one command away."""
    lines = [line if len(line) <= 220 else line[:217] + "..." for line in text.splitlines()]
    return "\n".join(lines[:limit] + [f"… {len(lines) - limit} more lines"] * (len(lines) > limit))


def write_stages(build, output):
    """One program after each stage, and its PTX."""
    compiler = build / "bin/tilewright-compile"
    stages = (ROOT / "include/tilewright/Stages/Stages.def").read_text()
    summaries = dict(re.findall(r'(?m)^STAGE\(\w+,\s*"(\w+)",\s*"([^"]+)"\)', stages))
    target = "--target=cuda:sm_80"
    text = ["# One program, every stage", "", "A fully connected layer of halves with bias and relu, for `cuda:sm_80`:", "",
            "```mlir", PROGRAM.rstrip(), "```", "",
            f"`tilewright-compile layer.mlir {target} --dump-stages=DIR` writes what follows in full. It becomes one kernel.", ""]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layer.mlir"
        source.write_text(PROGRAM)
        explained = subprocess.run([compiler, source, target, "--explain", f"--dump-stages={folder}/stages", "--emit=ptx", "-o",
                                    f"{folder}/layer.ptx"], capture_output=True, text=True, check=True).stderr
        text += ["What `--explain` says of it:", "", "```", explained.rstrip(), "```", ""]
        for number, (stage, summary) in enumerate(summaries.items(), 1):
            dump = pathlib.Path(folder) / "stages" / f"layer.{number:02}-{stage}.mlir"
            text += [f"## {stage}", "", summary[0].upper() + summary[1:] + ".", "", "```mlir", shorten(dump.read_text()), "```", ""]
        ptx = pathlib.Path(folder, "layer.ptx").read_text()
        text += ["## PTX", "", "```", shorten(ptx, 60), "```", ""]
    (output / "stages.md").write_text("\n".join(text))


def tablegen(action, file, *options):
    return run(TABLEGEN, action, *options, *INCLUDES, ROOT / "include/tilewright" / file)


def write_references(output):
    def clean(text):
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)
        text = re.sub(r"\[TOC\]\n?", "", text)
        # A list begins after an empty line.
        return re.sub(r"(?m)^( *(?![*-] )\S.*\n)(?=\s*[*-] )", r"\1\n", text)

    body = clean(tablegen("-gen-dialect-doc", "Dialect/TilewrightOps.td", "-dialect=tilewright"))
    (output / "dialect.md").write_text(body)
    text = ["# Passes", "", "By room, in the order in which a program goes through them. `tilewright-opt` runs each.", ""]
    for room in ("Input Normalize Dispatch Place Specialize Configure Tile Vectorize Bufferize Promote Pipeline Distribute Target".split()):
        if (ROOT / f"include/tilewright/{room}/Passes.td").exists():
            text += [f"## {room}", "", clean(tablegen("-gen-pass-doc", f"{room}/Passes.td")), ""]
    (output / "passes.md").write_text("\n".join(text))


def main():
    build, output = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
    check_versions()
    copy_pages(output)
    shutil.copy(ROOT / "docs/site/site.css", output)
    write_stages(build, output)
    write_references(output)
    (output / "coverage.md").write_text(coverage.page(coverage.suite(), coverage.reports_in(build)))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"pages.py: error: {' '.join(map(str, error.cmd))}\n{error.stderr}")
