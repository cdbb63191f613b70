# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of ladder.jsonl: a row per rung, a column per problem, and what of cuBLAS's speed the rungs have."""

import math

from tilewright_sweep.contest import late_note

PEERS = {"cublas": "cuBLAS", "triton": "Triton, autotuned", "triton_same": "Triton, our tile"}


def _cell(report):
    if report is None:
        return ""
    verdict = report.get("verdict", "error")
    if "median_s" not in report:
        return verdict if verdict != "error" else "error: " + report.get("error", "")[:40].replace("|", "/")
    text = f"{report['tflops']:.1f}" if report["tflops"] >= 0.1 else f"{report['tflops']:.2g}"
    if "of_cublas" in report:
        text += f", {100 * report['of_cublas']:.0f} %"
    if "passed" in report:
        text += f" ({'passed' if report['passed'] else 'missed'} {100 * report['gate']:.0f})"
    late = late_note(report)
    return text + (f" ({late})" if late else "") + ("" if verdict == "ok" else f" **{verdict}**")


def _mean(lines, name):
    ratios = [line["rungs"][name]["of_cublas"] for line in lines if "of_cublas" in line["rungs"].get(name, {})]
    if not ratios:
        return ""
    return f"{100 * math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f} %"


def tables(lines):
    """Markdown, a table per device and slice; a later line of a problem replaces an earlier one."""
    groups = {}
    for line in lines:
        key = line["device"], line["uuid"] or line["driver"], line["slice"]
        groups.setdefault(key, {})[line["problem"]["name"]] = line
    text = []
    for (device, _, slice_), problems in sorted(groups.items()):
        found = list(problems.values())
        first = found[-1]
        text += [f"## Ladder {slice_} on {device}", "", f"{first['title']}; {first['driver']}, target `{first['target']}`, version "
                 f"{first['version']}." + (f" No peers: {first['absent']}." if first["absent"] else "") +
                 (" Sizes for a rehearsal: the times say nothing." if first["size"] == "tiny" else ""), ""]
        head = ["", "what", *(f"`{name}`" for name in problems), "mean"]
        text += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for name, what in PEERS.items():
            if any(name in line["peers"] for line in found):
                text.append("| " + " | ".join([what, "", *(_cell(line["peers"].get(name)) for line in found), ""]) + " |")
        for name in first["rungs"]:
            text.append("| " + " | ".join([f"`{name}`", first["rungs"][name]["what"],
                                           *(_cell(line["rungs"].get(name)) for line in found), _mean(found, name)]) + " |")
        text.append("")
    if text:
        text.append("Figures are TFLOP/s and, where cuBLAS was measured, the share of its speed; in brackets the gate of that rung. "
                    "Mean: the geometric one over the row.")
    return "\n".join(text)
