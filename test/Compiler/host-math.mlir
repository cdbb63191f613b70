// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of scalars on the host, whose expansions fuse products with sums.
//
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --print --check=oracle --input=f32=0.5 --input=f64=3 | FileCheck %s
// CHECK: f32=1.6487
// CHECK: f64=1.0986122886681
// CHECK: f32=0.46211

func.func @functions(%x: f32, %y: f64) -> (f32, f64, f32) {
  %0 = math.exp %x : f32
  %1 = math.log %y : f64
  %2 = math.tanh %x : f32
  return %0, %1, %2 : f32, f64, f32
}
