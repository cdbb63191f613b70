# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who fills the stages of shared memory in the event-driven form, who reads them, and when mbarriers are complete.

Which mbarrier an instruction means is in registers, which nobody simulates here. What the simulator counts says as much:
how many stages there are, how many bytes a filling has, and how often each warp copies, waits and arrives. A warp that
copies and reads nothing, where others wait, is a producer: with S stages its n'th wait is for the n - S'th filling to be given
back. The n'th wait of the others is for the n'th filling; with their next arrival they give it back, less the groups of wgmma that
they left running.
"""

from tilewright_sweep.predict import roles


class Plan:
    """Of one block. `found`: roles.Stages; `asked`: bytes that its fillings ask L2 for; `issued`: copies that it issues;
    `copies`, `waits`, `gives`, `reads`: by warp how often it does so in the part of it that is simulated."""

    def __init__(self, found, asked, issued, copies, waits, gives, reads):
        most = max(one.fillings for one in found)
        filled = [one for one in found if one.fillings > most / 2]
        others = any(wait and not made for wait, made in zip(waits, copies))
        self.producer = [others and made > 0 and not read for made, read in zip(copies, reads)]
        # As many fillings as the producer waits for; where it waits for none, by its copies.
        self.fillings = max((wait for wait, one in zip(waits, self.producer) if one), default=0)
        rings = 1
        if self.fillings:
            # Keys and values, say, which are filled and waited for in turns: a wait for fewer copies than a filling has.
            rings = max(1, round(issued / most * self.fillings / max(copies)))
        else:
            self.fillings = max(copies) / max(1, round(sum(one.copies for one in found) / most))
        self.stages = rings * min(one.stages for one in filled)
        self.bytes = sum(one.bytes for one in filled) / rings
        self.asked = asked / most / rings
        self.by_waits = [one and wait >= self.fillings for one, wait in zip(self.producer, waits)]
        self.copies_each = [made / self.fillings for made in copies]
        self.waits_each = [max(1, round(wait / self.fillings)) for wait in waits]
        self.giving = [
            warp for warp, (give, wait) in enumerate(zip(gives, waits)) if give and wait and not self.producer[warp]
        ]  # fmt: skip


class Ring:
    """The stages of one block that runs: when fillings arrive and are given back, and which warps wait for that."""

    def __init__(self, plan):
        self.plan, self.filled, self.parked = plan, [], []
        self.given = {warp: [] for warp in plan.giving}
        self.ended = set()

    def begins(self, warp):
        """Whether a copy of a warp is the first one of a filling; the others count with it."""
        number, warp.copies = warp.copies, warp.copies + 1
        if self.plan.by_waits[warp.number]:
            first, warp.fresh = warp.fresh, False
            return first
        # No stage is filled again that nobody has waited for, whatever the counts say.
        if len(self.filled) >= warp.waits // self.plan.waits_each[warp.number] + self.plan.stages:
            return False
        each = self.plan.copies_each[warp.number]
        return number == 0 or int(number / each + 1e-6) > int((number - 1) / each + 1e-6)

    def ready_at(self, warp):
        """When the mbarrier that a warp waits for is complete; None: that depends on what has not happened yet."""
        plan = self.plan
        index = warp.waits // plan.waits_each[warp.number]
        if not plan.producer[warp.number]:
            if index >= plan.fillings:
                return 0.0
            return self.filled[index] if index < len(self.filled) else None
        needed = index - plan.stages + 1
        latest = 0.0
        for other, times in self.given.items() if needed > 0 else ():
            if len(times) >= needed:
                latest = max(latest, times[needed - 1])
            elif other not in self.ended:
                return None
        return latest

    def give_back(self, warp, at):
        """Whether an arrival of a warp gives something back."""
        times = self.given.get(warp.number)
        if times is None or not warp.waits:
            return False
        done = (warp.waits - 1) // self.plan.waits_each[warp.number] + 1 - warp.running
        if done <= len(times):
            return False
        times += [at] * (done - len(times))
        return True


def plan_of(launch, copies, waits, gives, reads):
    """None without stages."""
    counts = launch.counts
    if not counts.stages or not any(copies):
        return None
    lines = {line for line, of in counts.global_rows.items() if any(counts.fills_stages(line, row) for row in of)}
    asked = sum(32 * row["missed"] for line in lines for row in counts.global_rows[line] if counts.fills_stages(line, row))
    issued = sum(counts.issue[line]["executed"] for line in lines if line in counts.issue)
    found = [roles.Stages(row) for row in counts.stages]
    return Plan(found, asked / counts.blocks, issued / counts.blocks, copies, waits, gives, reads)
