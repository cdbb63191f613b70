#!/bin/sh
# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles every *.spvasm here into the words of *.spv.inc, which are checked
# in so that the suite builds without SPIRV-Tools. Run after changing one.
# Cooperative matrices need SPIRV-Tools of 2023.4 or later, those of
# scripts/newer-vulkan for instance: TOOLS=build/newer-vulkan/run assemble.sh
set -e
tools=${TOOLS:+$(realpath "$TOOLS")}
cd "$(dirname "$0")"
for source in *.spvasm; do
  binary=$(mktemp)
  version=vulkan1.1
  case $source in cooperative*) version=vulkan1.3 ;; esac
  $tools spirv-as --target-env $version "$source" -o "$binary"
  $tools spirv-val --target-env $version "$binary"
  od -An -v -tx4 -w32 "$binary" |
    sed 's/ \([0-9a-f]*\)/0x\1, /g; s/ *$//' >"${source%.spvasm}.spv.inc"
  rm "$binary"
done
