# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""summarize.py FOLDER SECONDS: adds up the reports that scripts/test left in a folder, and how long it ran.

Prints a line per part with its minutes by the clock and of processors, and where the former went if the part says so
(NAME.seconds: lines of a number of seconds and what took them), the tests that were skipped and why, the tests that
failed, and at the end "N passed, N failed, N skipped". A part that ended badly without a failed test of its own counts
as one failure; one that ended with 77 was skipped, NAME.reason says why.
"""

import collections
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def from_junit(path):
    """Yields (name, "passed" | "failed" | "skipped", reason)."""
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        group = case.get("classname") or ""
        name = case.get("name") if group in ("", case.get("name")) else f"{group}/{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed", ""
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            reason = (skipped.get("message") if skipped is not None else "") or "not run"
            yield name, "skipped", reason
        else:
            yield name, "passed", ""


def expand(cases, folder):
    """Replaces a GoogleTest program by its tests, where it left its own report."""
    for name, verdict, reason in cases:
        report = folder / f"{name}.xml"
        if report.exists():
            yield from from_junit(report)
        else:
            yield name, verdict, reason


def from_json(path):
    """The end-to-end run's own report: a list of cases with a verdict."""
    for case in json.loads(path.read_text())["cases"]:
        yield case["name"], case["verdict"], case.get("reason", "")


def main():
    results = pathlib.Path(sys.argv[1])
    total = collections.Counter()
    skipped = collections.defaultdict(list)
    failed = []
    processors = 0
    print("\n=== summary")
    for line in (results / "steps").read_text().splitlines():
        step, code, seconds, busy = line.split()
        xml, report = results / f"{step}.xml", results / f"{step}.json"
        counts = collections.Counter()
        if xml.exists() or report.exists():
            cases = expand(from_junit(xml), results / "gtest") if xml.exists() else from_json(report)
            for name, verdict, reason in cases:
                counts[verdict] += 1
                if verdict == "skipped":
                    skipped[step, reason].append(name)
                elif verdict == "failed":
                    failed.append(f"{step}: {name}")
            if code != "0" and not counts["failed"]:
                counts["failed"] += 1
                failed.append(f"{step}: ended with exit code {code}")
            if not counts["passed"] and not counts["failed"]:
                counts["failed"] += 1
                failed.append(f"{step}: ran no test")
        elif code == "77":
            counts["skipped"] += 1
            skipped[step, (results / f"{step}.reason").read_text().strip()].append(step)
        else:
            counts["passed" if code == "0" else "failed"] += 1
            if code != "0":
                failed.append(f"{step}: exit code {code}")
        total.update(counts)
        print(f"{step:20} {counts['passed']:6} passed {counts['failed']:4} failed "
              f"{counts['skipped']:4} skipped {int(seconds) / 60:6.1f} min {int(busy) / 60:6.1f} of processors")
        processors += int(busy) / 60
        parts = results / f"{step}.seconds"
        for part in parts.read_text().splitlines() if parts.exists() else ():
            taken, what = part.split(maxsplit=1)
            if float(taken) >= 6:
                print(f"    {what:40} {float(taken) / 60:23.1f} min")
    print(f"{'all':20} {int(sys.argv[2]) / 60:46.1f} min {processors:6.1f} of processors")
    for (step, reason), names in sorted(skipped.items()):
        print(f"skipped in {step}, {reason}: {', '.join(sorted(names))}")
    for name in failed:
        print(f"FAILED {name}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped", flush=True)
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
