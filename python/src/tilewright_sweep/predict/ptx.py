# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as PTX has them, where ptxas or nvdisasm is missing: the coarser mode.

Each PTX instruction stands for the SASS that it usually becomes: moves, parameters and conversions of addresses for
nothing, additions of 64 bits for two, divisions of integers for a chain of fifteen, four loads of neighbouring words of
shared memory for one of sixteen bytes, for which short loops are unrolled. Registers of a thread are the most 32-bit values
that are alive at once. When instructions are issued is in schedule.py. Read ports are not counted.
"""

import re

from tilewright_sweep.predict import sass

_FREE = {"mov", "cvta", "ret", "exit", "pragma", "isspacep", "griddepcontrol", "setmaxnreg", "fence", "elect", "mapa"}
_INTEGER = {
    "and": "LOP3", "or": "LOP3", "xor": "LOP3", "not": "LOP3", "lop3": "LOP3", "shl": "SHF", "shr": "SHF", "shf": "SHF",
    "bfe": "SHF", "bfi": "LOP3", "prmt": "PRMT", "setp": "ISETP", "set": "ISETP", "selp": "SEL", "slct": "SEL", "add": "IADD3",
    "sub": "IADD3", "neg": "IADD3", "abs": "IABS", "min": "IMNMX", "max": "IMNMX", "mad": "IMAD", "mul": "IMAD", "fma": "IMAD",
    "dp4a": "IMAD", "cvt": "PRMT",
}  # fmt: skip
_FLOAT = {"add": "FADD", "sub": "FADD", "mul": "FMUL", "fma": "FFMA", "mad": "FFMA", "min": "FMNMX", "max": "FMNMX",
          "neg": "FMUL", "abs": "FMUL", "setp": "FSETP", "selp": "FSEL"}  # fmt: skip
_SPECIAL = {"ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh", "div"}
#: What ptxas makes of a division of integers of 32 bits, each of the step before: reciprocal, two corrections, product.
_DIVISION = ["I2F", "MUFU", "IADD3", "F2I", "IMAD", "IMAD", "IMAD", "IMAD", "IMAD", "IMAD", "ISETP", "IADD3", "ISETP", "IADD3", "LOP3"]
_NO_RESULT = {"st", "red", "bra", "bar", "barrier", "cp", "ret", "exit", "fence", "membar", "wgmma", "call", "setmaxnreg"}


class Instruction:
    """What sass.Instruction has and dependences need: names of registers that it reads and writes."""

    #: `step`: what is added to a register, `bounded`: compares with a constant.
    __slots__ = ("opcode", "operands", "line", "target", "predicated", "reads", "writes", "step", "bounded")

    def __init__(self, opcode, line, reads, writes, target=None, predicated=False, operands=()):
        self.opcode, self.line, self.reads, self.writes = opcode, line, reads, writes
        self.target, self.predicated, self.operands = target, predicated, list(operands)
        self.step, self.bounded = 0, False

    @property
    def root(self):
        return self.opcode.split(".")[0]

    def registers(self):
        return ()


def _memory(parts):
    """Opcode of a load or store."""
    kind = parts[0]
    bits = int(re.search(r"(\d+)$", parts[-1])[1]) if re.search(r"(\d+)$", parts[-1]) else 32
    lanes = next((int(part[1]) for part in parts if re.fullmatch(r"v[248]", part)), 1)
    width = bits * lanes // 8
    space = next((part for part in ("global", "shared", "local") if any(x.split("::")[0] == part for x in parts)), "global")
    letter = {"global": "G", "shared": "S", "local": "L"}[space]
    suffix = ".128" if width >= 16 else ".64" if width == 8 else ""
    return ("LD" if kind == "ld" else "ST") + letter + ".E" * (letter == "G") + suffix


#: So many instructions of a branch become a predicate's, where warps are likely to diverge: NVIDIA, CUDA C++ Best Practices Guide,
#: branch predication. Those of _KEPT do not.
PREDICATED = 7
_KEPT = {"BAR", "EXIT", "SYNCS", "WARPGROUP", "DEPBAR", "LDGDEPBAR", "CALL"}


def _matrix(parts):
    shape = next(part for part in parts if re.fullmatch(r"m\d+n\d+k\d+", part))
    m, n, k = map(int, re.match(r"m(\d+)n(\d+)k(\d+)", shape).groups())
    if parts[0] == "wgmma":
        root = "IGMMA" if "s32" in parts else "QGMMA" if any(x.startswith("e") and "m" in x for x in parts[4:]) else "HGMMA"
        return [f"{root}.{m}x{n}x{k}.F32"]
    if "f64" in parts:
        return ["DMMA.884"] * (m * n * k // 256)
    if "s32" in parts:
        return [f"IMMA.{m}{n}{k}"]
    kind = ".TF32" if "tf32" in parts else ""
    accumulator = "F16" if parts[-1] == "f16" and "f32" not in parts else "F32"
    if parts[0] == "wmma":
        return [f"HMMA.16816.{accumulator}"] * max(1, m * n * k // 2048)
    return [f"HMMA.{m}{k}.{accumulator}{kind}" if n == 8 and m == 16 and k == 8 else f"HMMA.{m}{n}{k}.{accumulator}{kind}"]


def opcodes(name):
    """SASS that a PTX instruction usually becomes."""
    parts = name.split(".")
    root, types = parts[0], parts[1:]
    if root in _FREE or name.startswith(("ld.param", "ld.const", "cvt.u64.u32", "cvt.s64.s32")):
        return []
    if root in ("ld", "st"):
        return [_memory(parts)]
    if root == "ldu":
        return [_memory(["ld", *types])]
    if root == "cp" and "bulk" in types:
        if "prefetch" in types or "global" not in types and "shared::cluster" not in types:
            return []
        reduces, loads = "reduce" in types, types[-1] != "bulk_group" and "bulk_group" not in types
        if "tensor" in types:
            return ["UTMALDG" if loads else "UTMAREDG" if reduces else "UTMASTG"]
        return ["UBLKRED" if reduces else "UBLKCP"]
    if root == "mbarrier":
        return ["SYNCS"]
    if root == "cp":
        if "commit_group" in types:
            return ["LDGDEPBAR"]
        if any(part.startswith("wait") for part in types):
            return ["DEPBAR.LE"]
        return ["LDGSTS.E.128"] if "async" in types else []
    if root in ("mma", "wmma", "wgmma"):
        if root == "wgmma" and "mma_async" not in types:
            return {"commit_group": ["WARPGROUP.COMMIT"], "wait_group": ["WARPGROUP.DEPBAR.LE"]}.get(types[0], [])
        if root == "wmma" and types[0] != "mma":
            return ["LDSM.16.M88.4" if types[0] == "load" else "STS.128"]
        return _matrix(parts)
    if root in ("ldmatrix", "stmatrix"):
        return [("LDSM" if root[0] == "l" else "STSM") + ".16.M88"]
    if root in ("bar", "barrier"):
        return ["BAR.SYNC"] if "warp" not in types else []
    if root == "bra":
        return ["BRA"]
    if root in ("shfl", "red", "atom", "vote", "match", "activemask"):
        return [{"shfl": "SHFL", "red": "RED", "atom": "ATOMG"}.get(root, "VOTE")]
    if root in ("div", "rem") and types[-1][0] in "us":
        return _DIVISION * (4 if types[-1].endswith("64") else 1)
    if root in _SPECIAL:
        return ["MUFU"] + (["FMUL"] * 7 if root == "div" and "full" not in types and "approx" not in types else [])
    last = types[-1] if types else "b32"
    if root == "cvt":
        floats = sum(x.startswith(("f", "bf", "e")) and x[-1].isdigit() for x in types)
        return ["F2F"] if floats else ["PRMT"]
    if last.startswith(("f16", "bf16")) and root in _FLOAT:
        return ["HFMA2"]
    if last == "f64" and root in _FLOAT:
        return ["DFMA"]
    if last == "f32" and root in _FLOAT:
        return [_FLOAT[root]]
    found = _INTEGER.get(root, "IADD3")
    return [found] * (2 if last.endswith("64") and found in ("IADD3", "LOP3", "ISETP", "SHF") else 1)


def _statements(text, entry):
    """(line, label or statement, scopes that it is in, the innermost last) of the body of a kernel."""
    inside, pending, begun, scopes, opened = False, "", 0, (), 0
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("//")[0]
        if not inside and not re.search(rf"\.entry\s+{re.escape(entry)}\b", line):
            continue
        inside = True
        if not scopes and "{" not in line:
            continue
        if not scopes:
            line = line[line.index("{") :]
        label = re.match(r"\s*([$%\w]+):\s*$", line)
        if label and scopes:
            yield number, label[1] + ":", scopes
            continue
        for piece in re.findall(r"[^;{}]+|[;{}]", line):
            if piece == "{" and not pending.strip():
                opened += 1
                scopes += (opened,)
            elif piece == "}" and not pending.strip():
                scopes = scopes[:-1]
                if not scopes:
                    return
            elif piece == ";":
                if pending.strip():
                    yield begun, pending.strip(), scopes
                pending = ""
            else:
                begun = begun if pending.strip() else number
                pending += piece


def _instructions(line, text):
    match = re.match(r"(?:@(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*(.*)", text, re.S)
    if not match or text.startswith("."):
        return
    guard, name, rest = match[2], match[3], match[4]
    target = re.search(r"([$\w]+)\s*$", rest)[1] if name.startswith("bra") else None
    first = re.match(r"\s*(\{[^}]*\}|[^,]*)", rest)[1]
    has_result = name.split(".")[0] not in _NO_RESULT and not first.lstrip().startswith("[")
    writes = re.findall(r"%\w+", first) if has_result else []
    reads = re.findall(r"%\w+", rest[len(first) :] if has_result else rest) + ([guard] if guard else [])
    if name.startswith("wgmma.mma_async"):
        writes = re.findall(r"%\w+", first)
    operands = ["", re.search(r"\d+", rest)[0]] if name.startswith(("cp.async.wait_group", "wgmma.wait_group")) else []
    made = opcodes(name)
    chained = made[: len(_DIVISION)] == _DIVISION
    for index, opcode in enumerate(made or ["NONE"]):
        inputs = reads + [f"step {index - 1} of {line}"] * (chained and index > 0)
        results = writes if index == max(len(made) - 1, 0) else [f"step {index} of {line}"] * chained
        yield Instruction(opcode, line, inputs, results, target, bool(guard), operands)


def _merge_words(block):
    """Loads of all four words of sixteen aligned bytes of shared memory, with nothing stored between, are one."""
    groups, gone = {}, set()
    for item in block:
        if item.root in ("STS", "BAR", "LDGSTS", "ATOMS"):
            groups = {}
        elif item.opcode == "LDS" and item.operands:
            base, offset = item.operands[0]
            group = groups.setdefault((base, offset // 16), {})
            group[offset % 16] = item
            if len(group) == 4:
                first, *others = sorted(group.values(), key=lambda one: one.line)
                first.opcode, first.writes = "LDS.128", [name for one in group.values() for name in one.writes]
                gone |= set(map(id, others))
                del groups[base, offset // 16]
    return [item for item in block if id(item) not in gone]


def _unroll(block):
    """A loop that ptxas unrolls for its loads: its one block, with a bound that is a constant, reads words of shared memory at
    an address that grows by 4 or 8 bytes a turn. Turns until that are 16 bytes become one, where loads merge. What a turn
    hands to itself alone has a name of its own in each."""
    steps = {item.writes[0]: item.step for item in block if item.step}
    loads = [item for item in block if item.opcode == "LDS" and item.operands]
    found = {steps[item.operands[0][0]] for item in loads if steps.get(item.operands[0][0]) in (4, 8)}
    if not found or not block[-1].target or any(item.root in ("BAR", "LDGSTS", "STS", "ATOMS") for item in block):
        return block
    if not any(item.bounded for item in block):
        return block
    turns, given, made = 16 // min(found), set(), []
    written = set()
    for item in block:
        given |= {name for name in item.reads if name not in written}
        written |= set(item.writes)
    control = [item for item in block if item.step or item.bounded or item is block[-1]]
    for turn in range(turns):
        own = lambda name, turn=turn: name if name in given or name not in written else f"{name}000{turn}"  # noqa: E731
        for item in block:
            if item in control:
                made += [item] * (turn == turns - 1)
                continue
            copy = Instruction(item.opcode, item.line, list(map(own, item.reads)), list(map(own, item.writes)), None, item.predicated)
            copy.operands = item.operands
            if item in loads:
                base, offset = item.operands[0]
                copy.operands = [(base, offset + turn * steps.get(base, 0))]
            made.append(copy)
    return made


def _predicate(kernel):
    """Branches around a few instructions, which ptxas makes into a predicate of theirs: all warps issue them then."""
    before = [[i for i, of in enumerate(kernel.successors) if index in of] for index in range(len(kernel.code))]
    for index, block in enumerate(kernel.code[:-1]):
        branch, body = block[-1], kernel.code[index + 1]
        around = kernel.successors[index] - {index + 1}
        if branch.root != "BRA" or not branch.predicated or len(around) != 1 or around != kernel.successors[index + 1]:
            continue
        some = [item for item in body if item.opcode != "NONE"]
        if len(some) > PREDICATED or before[index + 1] != [index] or any(item.target or item.root in _KEPT for item in body):
            continue
        for item in body:
            item.predicated, item.reads = True, item.reads + branch.reads
        kernel.code[index], kernel.code[index + 1] = block[:-1] + body, [Instruction("NONE", branch.line, [], [])]
        kernel.successors[index] = {index + 1}


def read(path, entry):
    """A kernel as sass.parse makes them, of instructions with dependences."""
    items, labels = [], {}
    kernel = sass.Kernel(entry)
    text = path.read_text()
    branches = []
    for line, statement, scopes in _statements(text, entry):
        if statement.endswith(":"):
            labels[f"{statement[:-1]} {scopes[-1]}"] = len(items)
            continue
        for item in _instructions(line, statement):
            branches += [(item, scopes)] * bool(item.target)
            if item.opcode == "LDS" and (place := re.search(r"\[(%?\w+)\+?(-?\d+)?\]", statement)):
                item.operands = [(place[1], int(place[2] or 0))]
            if grows := re.match(r"add\.[su]32\s+(%\w+), \1, (-?\d+)$", statement):
                item.step = int(grows[2])
            item.bounded = bool(re.match(r"setp\.\w+\.\w+\s+%\w+, %\w+, -?\d+$", statement))
            items.append(item)
        if statement.startswith(("ret", "exit")):
            items[-1].opcode = "EXIT"
    # Labels of inline assembly are of their scope: the same name again is another one.
    for item, scopes in branches:
        names = [f"{item.target} {scope}" for scope in reversed(scopes)]
        item.target = next((name for name in names if name in labels), None)
    sass.divide(kernel, items, labels)
    kernel.registers = _alive(kernel)
    _predicate(kernel)
    own = [index in of for index, of in enumerate(kernel.successors)]
    kernel.code = [_unroll(block) if itself else block for block, itself in zip(kernel.code, own)]
    kernel.code = [[i for i in _merge_words(block) if i.opcode != "NONE"] or block[-1:] for block in kernel.code]
    return kernel


def _alive(kernel):
    """The most 32-bit values that are alive at once, and some for addresses and the ABI."""
    width = {"%rd": 2, "%fd": 2, "%p": 0, "%rs": 0.5, "%h": 0.5}
    cost = lambda names: sum(width.get(re.match(r"%[a-z]+", name)[0], 1) for name in names)  # noqa: E731
    at_end = [set() for _ in kernel.code]
    at_start = [set() for _ in kernel.code]
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(kernel.code))):
            alive = set().union(*(at_start[other] for other in kernel.successors[index]))
            at_end[index] = set(alive)
            for item in reversed(kernel.code[index]):
                alive = (alive - set(item.writes)) | {name for name in item.reads if re.fullmatch(r"%[a-z]+\d+", name)}
            if alive != at_start[index]:
                at_start[index], changed = alive, True
    most = 0.0
    for index, block in enumerate(kernel.code):
        alive = set(at_end[index])
        for item in reversed(block):
            alive = (alive - set(item.writes)) | {name for name in item.reads if re.fullmatch(r"%[a-z]+\d+", name)}
            most = max(most, cost(alive))
    return min(255, int(most) + 16)
