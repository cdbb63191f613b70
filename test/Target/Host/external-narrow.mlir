// RUN: clang-22 -O2 -shared -fPIC -o %t.so %S/Inputs/external-narrow.c
// RUN: tilewright-compile %s --target=cpu -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --input=i32=305419775 --external-lib=%t.so --print | FileCheck %s

// Arguments of less than 32 bits fill those of their registers, as C compilers expect: 305419775 is
// 0x123455FF, which is -1 as i8, 22015 as i16, and 1 as i1.
// CHECK: i32=0
// CHECK: i32=44030
// CHECK: i32=11
// CHECK: i32=1
func.func private @half(i8, i32) -> i8
func.func private @of_short(i16) -> i32
func.func private @of_bool(i1) -> i32
func.func private @is_odd(i32) -> i1

func.func @main(%a: i32) -> (i32, i32, i32, i32) {
  %zero = arith.constant 0 : i32
  %b = arith.trunci %a : i32 to i8
  %c = arith.trunci %a : i32 to i16
  %d = arith.trunci %a : i32 to i1
  %r = func.call @half(%b, %zero) : (i8, i32) -> i8
  %s = func.call @of_short(%c) : (i16) -> i32
  %t = func.call @of_bool(%d) : (i1) -> i32
  %u = func.call @is_odd(%a) : (i32) -> i1
  %v = arith.extsi %r : i8 to i32
  %w = arith.extui %u : i1 to i32
  return %v, %s, %t, %w : i32, i32, i32, i32
}
