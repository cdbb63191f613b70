#!/bin/sh
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A program of its own, as the reducer starts it.
exec python3 "$(dirname "$0")/fake.py" "$@"
