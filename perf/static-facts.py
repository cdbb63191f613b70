#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What can be said of a suite's kernels without a GPU.

    perf/static-facts.py                    compile perf/suites/gemm, print the facts
    perf/static-facts.py --check            … and hold them against perf/suites/gemm/facts.json
    perf/static-facts.py --record           … and write that file
    perf/static-facts.py perf/suites/convolution --targets cuda:sm_80    … of another suite
                                            (but for memory, whose facts are those of perf/static/traffic)

For each kernel with matrix instructions, of its innermost loop that has them (one step
along the sum): matrix instructions, ldmatrix, asynchronous copies of 16 bytes, other accesses
of global and shared memory; registers, spills and shared memory as `ptxas -v` reports
them; bank conflicts as the compiler calculates them. Of kernels of warpgroups, instead: wgmma of
the loop, copies and stores by tensor maps in the kernel, stages of the ring, and bytes that each of them is filled with, beside
those of the tiles of both operands. Of the other kernels (products of one
row, sums of parts): strategy, registers, spills, and how many of their reads of global
memory take 16 bytes. Of products for chips with wgmma that are not by warpgroups: why. The version of PTX, where it is not the
first that has the chip (LOWEST_PTX). --check fails on fewer matrix instructions a step, more ldmatrix for
each of them, fewer 16-byte copies or more narrower ones, a smaller share of 16-byte reads, any conflict, any
spill (but as many bytes as are recorded where somebody has written beside them why, as spills_why), any warning of ptxas, more exponentials or instructions for each matrix instruction, fewer wgmma a step, more copies by tensor maps for each of them, stages that get more than the tiles, fewer stages than recorded, kernels that need a newer PTX, other reasons against warpgroups than recorded, and on kernels that appear, vanish or change strategy.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "perf/static"))
import loops  # noqa: E402
import sass  # noqa: E402
TARGETS = ("cuda:sm_80", "cuda:sm_90a")
LOWEST_PTX = {"sm_80": "7.0", "sm_90a": "8.0"}  # drivers that know the chip take these
COUNTED = {"mma": r"\bmma\.sync", "ldmatrix": r"\bldmatrix\.", "matrices": r"\bldmatrix\.sync\.aligned\.m8n8\.x(\d)",
           "copies16": r"\bcp\.async\.cg\.shared\.global", "copies": r"\bcp\.async\.c[ag]\.shared\.global",
           "global": r"\b(ld|st)\.global", "shared": r"\b(ld|st)\.shared", "barriers": r"\b(bar|barrier)\.(cta\.)?sync"}


def blocks_of(ptx):
    """Basic blocks, as lists of lines, and for each the numbers of those that may follow."""
    blocks, names = [[]], {}
    for line in ptx.splitlines():
        if m := re.match(r"(\$L\w+):", line):
            blocks.append([])
            names[m.group(1)] = len(blocks) - 1
        blocks[-1].append(line)
        if re.search(r"\bbra(\.uni)?\s+\$L|^\s*ret;", line):
            blocks.append([])
    following = []
    for number, block in enumerate(blocks):
        last = block[-1] if block else ""
        m = re.search(r"\bbra(?:\.uni)?\s+(\$L\w+);", last)
        ends = re.match(r"\s*(bra|ret)\b", last)  # no predicate in front
        following.append(([names[m.group(1)]] if m and m.group(1) in names else []) +
                         ([number + 1] if not ends and number + 1 < len(blocks) else []))
    return blocks, following


def innermost_loop(ptx):
    """The lines of the shortest loop that has matrix instructions, wherever its blocks stand; none: an empty list."""
    blocks, following = blocks_of(ptx)
    bodies = [[line for number in loop for line in blocks[number]] for loop in loops.natural_loops(following)]
    bodies = [body for body in bodies if any(re.search(r"\b(mma\.sync|wgmma\.mma_async)", x) for x in body)]
    return min(bodies, key=len, default=[])


def bytes_read(line):
    """What one ld.global reads; 0: it is none."""
    m = re.search(r"\bld\.global(?:\.\w+)*?(?:\.v(\d))?\.[busf](\d+)\b", line)
    return int(m.group(1) or 1) * int(m.group(2)) // 8 if m else 0


def ring_of(ptx):
    """(stages, bytes that a stage waits for) of a kernel whose producer fills one ring: a stage has a barrier for the producer's
    arrival and one for those of the consumers, which may fetch tiles of their own beside their sums, of which nobody says that
    they are read."""
    counts = re.findall(r"\bmbarrier\.init\.\S+\s+\[[^\]]*\], (%\w+|\d+);", ptx)
    freed = sum(count != counts[0] for count in counts)
    # Code of the producer may stand behind that of the consumers, which wait for tiles of their own in few kernels.
    for code in (ptx, ptx.split("setmaxnreg.inc")[0]):
        names = re.findall(r"\bmbarrier\.arrive\.expect_tx\S*\s+_, \[[^\]]*\], (%\w+|\d+);", code)
        values = {re.search(rf"\bmov\.b32\s+{name}, (\d+);", ptx)[1] if name[0] == "%" else name for name in names}
        if len(values) == 1:
            break
    return freed or len(counts) // 2, int(values.pop()) if len(values) == 1 else None


def tile_bytes(config):
    """Bytes of the tiles of both operands in one step along the sum; None where 16-bit elements of one may be computed in registers
    from something narrower."""
    sides = [int(x) for x in re.search(r"block = \[([\d, ]*)\]", config)[1].split(",") if int(x) > 1]
    kind = re.search(r'mma = "wgmma\.\w+\.(\w+)\.', config)
    if len(sides) != 3 or not kind:
        return None
    bytes_ = 4 if kind[1] == "tf32" else 2 if kind[1] in ("f16", "bf16") else 1
    promoted = re.search(r"promote = \[([\d, ]*)\]", config)
    if bytes_ == 2 and promoted and len(promoted[1].split(",")) != 2:
        return None
    return (sides[0] + sides[1]) * sides[2] * bytes_


def facts_of(ptx_file, arch, ptxas, work):
    ptx = ptx_file.read_text()
    body = innermost_loop(ptx)
    facts = {}
    version = re.search(r"^\.version (\d+\.\d+)", ptx, re.MULTILINE)[1]
    if version != LOWEST_PTX.get(arch):
        facts["ptx"] = version
    if any("wgmma.mma_async" in x for x in body):
        facts["wgmma"] = sum("wgmma.mma_async" in x for x in body)
        facts["tensor_copies"] = len(re.findall(r"cp\.async\.bulk\.tensor\.\dd\.shared", ptx))
        facts["tensor_stores"] = len(re.findall(r"cp\.async\.bulk\.tensor\.\dd\.global", ptx))
    elif body:
        for name, pattern in COUNTED.items():
            found = [m for line in body if (m := re.search(pattern, line))]
            facts[name] = sum(int(m.group(1)) for m in found) if name == "matrices" else len(found)
    else:
        reads = [x for line in ptx.splitlines() if (x := bytes_read(line))]
        facts["reads"], facts["reads16"] = len(reads), sum(x == 16 for x in reads)
    done = subprocess.run([ptxas, f"-arch={arch}", "-v", str(ptx_file), "-o", str(work / (ptx_file.stem + ".cubin"))],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ptxas refuses {ptx_file}: {done.stderr}")
    report = done.stderr + done.stdout
    if exponentials := sum("ex2.approx" in x for x in body):
        facts["exp2"] = exponentials
    facts["warnings"] = len(re.findall(r"\bwarning\b|\bC75\d\d\b", report))
    facts["registers"] = int(re.search(r"Used (\d+) registers", report).group(1))
    facts["spills"] = sum(int(x) for x in re.findall(r"(\d+) bytes (?:spill stores|spill loads|stack frame)", report))
    smem = re.search(r"(\d+) bytes smem", report)
    facts["static_shared"] = int(smem.group(1)) if smem else 0
    return facts


def explanations(path):
    """program -> kernel -> its lines, of what --explain=json writes."""
    result = {}
    for entry in json.loads(path.read_text())["kernels"]:
        result.setdefault(entry["program"], {}).setdefault(entry["kernel"], []).extend(entry["lines"])
    return result


def add_sass(facts, file, arch, ptxas, nvdisasm):
    """Instructions of the main loop, and matrix instructions of these."""
    (kernel,) = sass.kernels(str(file), arch, ptxas, nvdisasm).values()
    facts["sass"], facts["sass_matrix"] = kernel.instructions, kernel.matrices


def collect(compiler, suite, targets, ptxas, jobs, nvdisasm=None):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        source = suite / f"{suite.name}.mlir"
        done = subprocess.run([compiler, str(source), f"--target={targets}", "--emit=ptx", "-o",
                               str(work / "ptx"), "--explain=json", f"--explain-output={work / 'explained.json'}"],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tilewright-compile refuses {source}:\n{done.stderr}")
        said = explanations(work / "explained.json")
        files = sorted((work / "ptx").glob("*/*.ptx"))

        def one(file):
            arch = file.parent.name.removeprefix("cuda_")
            found = facts_of(file, arch, ptxas, work)
            if nvdisasm and ("mma" in found or "wgmma" in found):
                add_sass(found, file, arch, ptxas, nvdisasm)
            return file, found
        facts = {}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for file, found in pool.map(one, files):
                # Of a variant only what differs is said.
                kernels = said.get(file.parent.name, {})
                whole = re.sub(r"_(aligned|wide)$", "", file.stem)
                lines = [x for name in dict.fromkeys((file.stem, whole)) for x in kernels.get(name, [])]
                config = next((x for x in lines if x.startswith("config")), "")
                facts[f"{file.parent.name}/{file.stem}"] = found
                found["config"] = re.sub(r"^.*lowering_config<(.*)>$", r"\1", config)
                why = against_warpgroups(f"{file.parent.name}/{file.stem}", config, lines)
                if why:
                    found["no_warpgroups"] = why
                if "wgmma" in found:
                    if "strategy = warp_specialized" in config:
                        found["stages"], found["stage_bytes"] = ring_of(file.read_text())
                        found["tile_bytes"] = tile_bytes(config)
                    continue
                if "mma" not in found:
                    found["strategy"] = re.search(r"strategy = (\w+)", config).group(1)
                    continue
                conflicts = [int(m.group(1)) for x in lines if (m := re.search(r"(\d+) bank conflicts by calc", x))]
                found["conflicts"] = sum(conflicts) if conflicts else None
        return facts


def against_warpgroups(name, config, lines):
    """Why a product is not by warpgroups where the chip has them: not on matrix units at all, or what is refused of the first such
    config; None of what is, and of no product."""
    if not name.startswith("cuda_sm_90a/") or "strategy = warp_specialized" in config:
        return None
    refused = (re.search(r"^refused .*strategy = warp_specialized, .*>: (.*?)( \(and \d+ more like it\))?$", x) for x in lines)
    return next((x for x in lines if x.startswith("not on matrix units: ")), None) or next((m[1] for m in refused if m), None)


def ptx_of(name, facts):
    version = facts.get("ptx") or LOWEST_PTX.get(name.split("/")[0].removeprefix("cuda_"), "9999.0")
    return tuple(map(int, version.split(".")))


def differences(known, now):
    for name in sorted(known.keys() - now.keys()):
        yield f"{name}: recorded, but there is no such kernel any more"
    for name in sorted(now.keys() - known.keys()):
        yield f"{name}: not recorded"
    for name in sorted(known.keys() & now.keys()):
        old, new = known[name], now[name]
        if new["spills"] > (old["spills"] if "spills_why" in old else 0):
            yield f"{name}: spills: {new['spills']}"
        if new["warnings"] != 0:
            yield f"{name}: warnings of ptxas: {new['warnings']}"
        if ptx_of(name, new) > ptx_of(name, old):
            yield f"{name}: PTX {new['ptx']}, recorded {old.get('ptx', 'the lowest of the chip')}"
        if "no_warpgroups" in old and new.get("no_warpgroups", "by warpgroups") != old["no_warpgroups"]:
            yield f"{name}: {new.get('no_warpgroups', 'by warpgroups')}, recorded {old['no_warpgroups']}"
        kinds = [next((kind for kind in ("wgmma", "mma") if kind in facts), "no matrix instructions") for facts in (old, new)]
        if kinds[0] != kinds[1]:
            yield f"{name}: {kinds[1]}, recorded {kinds[0]}"
            continue
        for fact, per in (("exp2", kinds[0]), ("sass", "sass_matrix")):
            if fact in new and fact in old and new[fact] * old[per] > old[fact] * new[per]:
                yield f"{name}: {fact} {new[fact]} for {new[per]} matrix instructions, recorded {old[fact]} for {old[per]}"
        if "wgmma" in new:
            if new["wgmma"] < old["wgmma"]:
                yield f"{name}: {new['wgmma']} wgmma a step, recorded {old['wgmma']}"
            if new.get("tile_bytes") is None:
                if new["config"] == old["config"] and new.get("stage_bytes") != old.get("stage_bytes"):
                    yield f"{name}: a stage is filled with {new['stage_bytes']} bytes, recorded {old['stage_bytes']}"
            elif new.get("stage_bytes") != new["tile_bytes"]:
                yield f"{name}: a stage is filled with {new['stage_bytes']} bytes, its tiles have {new['tile_bytes']}"
            if new.get("stages", 0) < old.get("stages", 0):
                yield f"{name}: {new['stages']} stages, recorded {old['stages']}"
            if not new["tensor_stores"] and old.get("tensor_stores"):
                yield f"{name}: no results by tensor maps, recorded {old['tensor_stores']}"
            if new["tensor_copies"] * old["wgmma"] > old["tensor_copies"] * new["wgmma"]:
                yield f"{name}: {new['tensor_copies']} copies by tensor maps, recorded {old['tensor_copies']}"
            continue
        if "mma" not in new:
            if new["strategy"] != old["strategy"]:
                yield f"{name}: strategy {new['strategy']}, recorded {old['strategy']}"
            if new["reads16"] * old["reads"] < old["reads16"] * new["reads"]:
                yield (f"{name}: {new['reads16']} of {new['reads']} reads take 16 bytes, recorded "
                       f"{old['reads16']} of {old['reads']}")
            continue
        if new["mma"] < old["mma"]:
            yield f"{name}: {new['mma']} matrix instructions a step, recorded {old['mma']}"
        if new["ldmatrix"] * old["mma"] > old["ldmatrix"] * new["mma"]:
            yield (f"{name}: {new['ldmatrix']} ldmatrix for {new['mma']} matrix instructions, "
                   f"recorded {old['ldmatrix']} for {old['mma']}")
        narrow = [facts["copies"] - facts["copies16"] for facts in (old, new)]
        if new["copies16"] * old["mma"] < old["copies16"] * new["mma"] or narrow[1] * old["mma"] > narrow[0] * new["mma"]:
            yield f"{name}: {new['copies16']} copies of 16 bytes of {new['copies']}, recorded {old['copies16']} of {old['copies']}"
        if new["conflicts"] != 0:
            yield f"{name}: conflicts: {new['conflicts']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", default=str(ROOT / "perf/suites/gemm"))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--compiler", default=str(ROOT / "build/bin/tilewright-compile"))
    parser.add_argument("--ptxas", default=os.environ.get("TILEWRIGHT_PTXAS") or shutil.which("ptxas"))
    parser.add_argument("--sass", metavar="NVDISASM", help="count instructions of machine code, too, by this nvdisasm")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    if not options.ptxas:
        sys.exit("no ptxas: set TILEWRIGHT_PTXAS")
    suite = pathlib.Path(options.suite)
    record = suite / "facts.json"
    if options.check and not record.exists():
        sys.exit(f"{suite}: no facts.json to hold the kernels against; --record writes one" +
                 (", and perf/static/traffic --check is about those of this suite" if list(suite.glob("traffic*.json")) else ""))
    facts = collect(options.compiler, suite, options.targets, options.ptxas, options.jobs, options.sass)
    columns = ("wgmma", "tensor_copies", "tensor_stores", "stages", "stage_bytes", "mma", "ldmatrix", "copies16", "copies", "global", "shared", "barriers", "exp2", "sass", "reads", "reads16", "registers", "spills", "conflicts")
    print(f"{'':44}", *(f"{c:>13}" for c in columns))
    for name, found in facts.items():
        print(f"{name:44}", *(f"{str(found.get(c, '-')):>13}" for c in columns))
    if options.record:
        known = json.loads(record.read_text()) if record.exists() else {}
        for name, found in facts.items():
            if found["spills"] and "spills_why" in known.get(name, {}):
                found["spills_why"] = known[name]["spills_why"]
        record.write_text(json.dumps(facts, indent=1) + "\n")
    if options.check:
        problems = list(differences(json.loads(record.read_text()), facts))
        for problem in problems:
            print(problem, file=sys.stderr)
        sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
