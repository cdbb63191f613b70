#!/bin/sh
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles every *.spvasm here into the words of *.spv.inc, which are checked
# in so that the suite builds without SPIRV-Tools. Run after changing one.
set -e
cd "$(dirname "$0")"
for source in *.spvasm; do
  binary=$(mktemp)
  spirv-as --target-env vulkan1.1 "$source" -o "$binary"
  spirv-val --target-env vulkan1.1 "$binary"
  od -An -v -tx4 -w32 "$binary" |
    sed 's/ \([0-9a-f]*\)/0x\1, /g; s/ *$//' >"${source%.spvasm}.spv.inc"
  rm "$binary"
done
