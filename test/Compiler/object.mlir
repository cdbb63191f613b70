// One object and one header make the functions callable from C and C++. Nothing
// but names with the prefix is visible in the object, so that it can be linked
// beside others and beside a C library.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: tilewright-compile %s --target=cpu,cpu-reference,cuda:sm_80 --name=scaled --emit=object -o %t/scaled.o
// RUN: tilewright-compile %s --target=cpu --name=scaled --emit=header -o %t/scaled.h
// RUN: llvm-nm --extern-only %t/scaled.o | FileCheck %s --check-prefix=SYMBOLS
// RUN: llvm-nm --extern-only %t/scaled.o | count 9
// RUN: %cc -std=c99 -Wall -Wextra -pedantic -Werror -I%t -I%runtime/include %S/Inputs/embed.c %t/scaled.o %build/lib/libtilewright.so -Wl,-rpath,%build/lib -o %t/c
// RUN: %t/c 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: %cc -x c++ -std=c++17 -Wall -Wextra -Werror -I%t -I%runtime/include %S/Inputs/embed.c -x none %t/scaled.o %build/lib/libtilewright.so -Wl,-rpath,%build/lib -o %t/c++
// RUN: %t/c++ 2>&1 | FileCheck %s --check-prefix=VALUE
//
// The artifact in it is the same as the one that is written by itself.
// RUN: tilewright-compile %s --target=cpu,cpu-reference,cuda:sm_80 -o %t/scaled.tw
// RUN: llvm-objcopy -O binary --only-section=.rodata %t/scaled.o %t/data
// RUN: %python %S/Inputs/contains.py %t/data %t/scaled.tw

// SYMBOLS-DAG: R scaled_artifact
// SYMBOLS-DAG: R scaled_artifact_size
// SYMBOLS-DAG: T scaled_cpu_query
// SYMBOLS-DAG: T scaled_cpu_reference_query
// SYMBOLS-DAG: T scaled_cuda_sm_80_query
// SYMBOLS-DAG: T scaled_cpu_main_elementwise_0_v3
// SYMBOLS-DAG: T scaled_cpu_main_elementwise_0_v4
// SYMBOLS-DAG: T scaled_cpu_update_elementwise_0_v3
// SYMBOLS-DAG: T scaled_cpu_update_elementwise_0_v4

// VALUE: a tensor 3xf32 takes 12 bytes; got 8
// VALUE: 0.5 1 1.5 -7
// VALUE: -1 -2 -3
func.func @main(%a: tensor<?xf32>, %by: f32, %n: i32) -> (tensor<?xf32>, i32) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %by : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r, %n : tensor<?xf32>, i32
}

func.func @update(%a: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%a : memref<?xf32>) {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return
}
