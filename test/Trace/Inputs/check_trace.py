# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a trace in Chrome's JSON format and prints its slices as a tree.

check_trace.py FILE: checks that every slice is complete and that those of one
lane are apart or nested, then prints each lane's slices, indented by depth, with
their arguments but without times.
"""

import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
names, lanes = {}, {}
for event in events:
    lane = (event["pid"], event["tid"])
    if event["ph"] == "M":
        names[event["name"], *lane] = event["args"]["name"]
    else:
        assert event["ph"] == "X" and event["dur"] >= 0 and event["ts"] >= 0, event
        lanes.setdefault(lane, []).append(event)

SLACK = 0.0015  # microseconds: what rounding to thousandths can do
for lane in sorted(lanes):
    print(f"{names['process_name', lane[0], 0]}, {names['thread_name', *lane]}")
    open_ends = []
    for event in sorted(lanes[lane], key=lambda e: (e["ts"], -e["dur"])):
        end = event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= event["ts"] + SLACK:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + SLACK, f"{event} ends behind the slice around it"
        print("  " * (len(open_ends) + 1) + f"{event['cat']} {event['name']}", json.dumps(event["args"], sort_keys=True))
        open_ends.append(end)
