# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what fuzzing starts from: OUT/{artifact,manifest,spirv,ptx}/..."""

import hashlib
import pathlib
import re
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "cts" / "kernels"
PROGRAMS = HERE.parent / "ptxsim" / "test" / "programs"


def container(sections):
    """The container of docs/abi.md."""
    data, table = b"", b""
    base = (56 + 64 * len(sections) + 63) // 64 * 64
    for name, text in sections:
        table += name.encode().ljust(48, b"\0") + struct.pack("<QQ", base + len(data), len(text))
        data += text + b"\0" * (-len(text) % 64)
    body = table.ljust(base - 56, b"\0") + data
    return (b"TILEWRT\x01" + struct.pack("<IIQ", 1, len(sections), 56 + len(body))
            + hashlib.sha256(body).digest() + body)


def main():
    out = pathlib.Path(sys.argv[1])

    def write(kind, name, content):
        folder = out / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    manifest = (HERE / "manifest.json").read_bytes()
    write("manifest", "small", manifest)
    # An ELF header is where the checks of a host program begin.
    elf = (b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
           + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 120, 120, 4096))
    write("artifact", "small", container([("manifest", manifest), ("host", elf), ("code.ptx", b"."),
                                          ("constants/0", b"\0" * 4)]))
    write("artifact", "elf", elf)
    for path in sorted(KERNELS.glob("*.spv.inc")):
        words = [int(word, 16) for word in re.findall(r"0x[0-9a-f]{8}", path.read_text())]
        write("spirv", path.name.split(".")[0], struct.pack(f"<{len(words)}I", *words))
    for path in sorted(PROGRAMS.glob("*.ptx")):
        text = path.read_text()
        header, *kernels = re.split(r"(?m)^(?=\.visible |\.entry )", text)
        # One kernel each: small inputs are mutated better.
        for index, kernel in enumerate(kernels[:6]):
            if len(kernel) < 6000 and len(header) < 2000:
                write("ptx", f"{path.stem}-{index}", (header + kernel).encode())


if __name__ == "__main__":
    main()
