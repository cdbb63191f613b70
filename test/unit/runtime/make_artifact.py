#!/usr/bin/env python3
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs an artifact by hand: make_artifact.py OUT.tw manifest=m.json NAME=FILE …"""

import hashlib
import struct
import sys


def pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 64)


def pack(sections: list[tuple[str, bytes]]) -> bytes:
    base = len(pad(bytes(56 + 64 * len(sections))))
    table, data = b"", b""
    for name, content in sections:
        table += struct.pack("<48sQQ", name.encode(), base + len(data), len(content))
        data += pad(content)
    body = table + bytes(base - 56 - len(table)) + data
    header = struct.pack("<8sIIQ", b"TILEWRT\x01", 1, len(sections), 56 + len(body))
    return header + hashlib.sha256(body).digest() + body


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sections = []
    for argument in sys.argv[2:]:
        name, _, path = argument.partition("=")
        with open(path, "rb") as file:
            sections.append((name, file.read()))
    with open(sys.argv[1], "wb") as file:
        file.write(pack(sections))


if __name__ == "__main__":
    main()
