# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the sections of an artifact (docs/abi.md, "Artifact container")."""

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
