# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes the sections of an artifact (docs/abi.md, "Artifact container")."""

import hashlib
import json
import struct


def sections(data):
    """{name: bytes}; raises ValueError for what is no artifact."""
    if data[:8] != b"TILEWRT\x01" or len(data) < 56:
        raise ValueError("no artifact")
    _, count, size = struct.unpack_from("<IIQ", data, 8)
    if size != len(data) or data[24:56] != hashlib.sha256(data[56:]).digest():
        raise ValueError("damaged artifact")
    result = {}
    for i in range(count):
        name, offset, length = struct.unpack_from("<48sQQ", data, 56 + 64 * i)
        result[name.rstrip(b"\0").decode()] = data[offset:offset + length]
    return result


def manifest(data):
    return json.loads(sections(data)["manifest"])


def write(sections_):
    """The bytes of an artifact with these sections, {name: bytes}."""
    aligned = lambda size: -size % 64 * b"\0"
    begin = 56 + 64 * len(sections_)
    table, data = b"", aligned(begin)
    for name, content in sections_.items():
        table += struct.pack("<48sQQ", name.encode(), begin + len(data), len(content))
        data += content + aligned(len(content))
    body = table + data
    return b"TILEWRT\x01" + struct.pack("<IIQ", 1, len(sections_), 56 + len(body)) + hashlib.sha256(body).digest() + body
