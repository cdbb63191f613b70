# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of each chip: chips.json, where every number stands beside its source."""

import json
import math
import pathlib

_FACTS = json.loads((pathlib.Path(__file__).parent / "chips.json").read_text())


class UnknownChip(ValueError):
    pass


class Chip:
    """Attributes are the members of chips.json: of the chip, of its architecture, and of all; `sources` says where from."""

    def __init__(self, key, others=None):
        """`others`: what differs from the table, as it is written there: {"clock_mhz": [765, "where from"]}."""
        if key not in _FACTS["chips"]:
            raise UnknownChip(f"no chip '{key}'; there are {', '.join(sorted(_FACTS['chips']))}")
        facts = dict(_FACTS["chips"][key])
        self.key, self.name, self.arch = key, facts.pop("name"), facts.pop("arch")
        self.sources = {}
        for members in (_FACTS["all"], _FACTS["architectures"][self.arch], facts, others or {}):
            for member, (value, source) in members.items():
                setattr(self, member, value)
                self.sources[member] = source

    def clock_under(self, busy):
        """Megahertz that stay where tensor cores are busy for such a share of the time. Within a limit of power: what they take grows
        with the share, the clock and the voltage, which falls with the clock."""
        return self.clock_mhz * min(1.0, math.sqrt(self.busy_tensor / busy)) if busy else self.clock_mhz

    def seconds(self, cycles, busy=0.0):
        """Of a launch whose tensor cores are busy for such a share of the cycles."""
        return cycles / (self.clock_under(busy) * 1e6) + self.launch_microseconds * 1e-6

    def bytes_per_cycle(self):
        """Of device memory."""
        return self.memory_gbps * 1e3 / self.clock_mhz

    def flops_per_second(self, kind="fp32"):
        """The roofline's roof: "fp32", or a kind of `tensor`."""
        per_clock = self.lanes[kind] if kind in self.lanes else self.tensor[kind]
        return 2e6 * per_clock * self.multiprocessors * self.clock_mhz


def names():
    return sorted(_FACTS["chips"])


def of_arch(arch):
    """The first chip of "sm_80" or "sm_80a"; None if there is none."""
    for key, facts in _FACTS["chips"].items():
        if facts["arch"] == arch.rstrip("af"):
            return key
    return None
