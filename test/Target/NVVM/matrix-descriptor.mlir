// RUN: tilewright-opt %s -tilewright-place-shared-memory -tilewright-print-code -o /dev/null | FileCheck %s

#t = #tilewright.target<"cuda:sm_90a", "nvvm", {chip = "sm_90a"}>
#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #t} {
  // In a cluster an address says from bit 24 on whose shared memory it is: a descriptor has its lower bits alone,
  // and behind them the leading offset, here 1024 bytes: 64 << 16.
  // CHECK-LABEL: // kernel descriptor: ptx
  // 262016: the lower 18 bits, but those that the memory's alignment leaves clear.
  // CHECK: and.b32 %[[BASE:r[0-9]+]], %r{{[0-9]+}}, 262016;
  // CHECK: add.s32 %[[PLACE:r[0-9]+]], %[[BASE]], %r{{[0-9]+}};
  // CHECK: shr.u32 %[[UNITS:r[0-9]+]], %[[PLACE]], 4;
  // CHECK: add.s32 %r{{[0-9]+}}, %[[UNITS]], 4194306;
  func.func private @descriptor(%d: memref<?xi64>, %i: index)
      attributes {tilewright.kernel, tilewright.access = ["write"], tilewright.launch = #l} {
    %a = memref.alloc() : memref<8192xf16, #tilewright.shared>
    %m = tilewright.matrix_descriptor %a[%i] + 16 {leading = 1024 : i64, stride = 1024 : i64, swizzle = 128 : i64} : memref<8192xf16, #tilewright.shared>
    memref.store %m, %d[%i] : memref<?xi64>
    return
  }
}
