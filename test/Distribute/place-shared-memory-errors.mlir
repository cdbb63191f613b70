// RUN: tilewright-opt %s -tilewright-place-shared-memory -split-input-file -verify-diagnostics

func.func private @GlobalAlloc() attributes {tilewright.kernel} {
  // expected-error @below {{'memref.alloc' op in a kernel must be a rank-1 memref of static size in #tilewright.shared}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {shared_memory = 1024 : i64}>} {
  // expected-error @below {{needs 4096 bytes of shared memory but cuda:sm_80 has 1024 for a block; choose smaller tiles or fewer stages}}
  func.func private @TooMuch() attributes {tilewright.kernel} {
    %0 = memref.alloc() : memref<1024xf32, #tilewright.shared>
    return
  }
}
