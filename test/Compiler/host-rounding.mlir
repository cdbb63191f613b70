// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding of scalars on the host, which has no instruction for it on every processor.
//
// RUN: tilewright-compile %s --target=cpu -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --print --input=f32=-2.5 | FileCheck %s --check-prefix=NEGATIVE
// RUN: tilewright-run %t.tw --device=cpu --print --input=f32=0.5 | FileCheck %s --check-prefix=HALF
// RUN: tilewright-run %t.tw --device=cpu --print --input=f32=1e20 | FileCheck %s --check-prefix=WHOLE
// NEGATIVE: f32=-3
// NEGATIVE: f32=-2
// NEGATIVE: f32=-2
// NEGATIVE: f32=-2
// NEGATIVE: f32=-3
// HALF: f32=0
// HALF: f32=1
// HALF: f32=0
// HALF: f32=0
// HALF: f32=1
// WHOLE-COUNT-5: f32=1.00000002e+20

func.func @round(%x: f32) -> (f32, f32, f32, f32, f32) {
  %0 = math.floor %x : f32
  %1 = math.ceil %x : f32
  %2 = math.trunc %x : f32
  %3 = math.roundeven %x : f32
  %4 = math.round %x : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}
