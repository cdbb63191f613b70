// RUN: tilewright-opt %s -tilewright-place-shared-memory -tilewright-print-code -o /dev/null | FileCheck %s

#t = #tilewright.target<"cuda:sm_90a", "nvvm", {chip = "sm_90a"}>
#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (2)>, cluster = [2]>
module attributes {tilewright.target = #t} {
  // The memory's address is mapped once for a block; what elements lie behind it is added.
  // CHECK-LABEL: // kernel load: ptx
  // CHECK: mapa.shared::cluster.u64 %[[THERE:rd[0-9]+]], %rd{{[0-9]+}}, 1;
  // CHECK-NOT: mapa
  // CHECK: add.s64 %[[PLACE:rd[0-9]+]], %[[THERE]],
  // CHECK-NEXT: ld.shared::cluster.v4.b32 {{.*}}, [%[[PLACE]]];
  // CHECK-NEXT: ld.shared::cluster.v4.b32 {{.*}}, [%[[PLACE]]+64];
  func.func private @load(%d: memref<?xf32>, %i: index)
      attributes {tilewright.kernel, tilewright.access = ["write"], tilewright.launch = #l} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %a = memref.alloc() : memref<1024xf32, #tilewright.shared>
    %j = arith.addi %i, %c16 overflow<nsw> : index
    %x = tilewright.cluster_load %a[%i] block %c1 : memref<1024xf32, #tilewright.shared> -> vector<4xf32>
    %y = tilewright.cluster_load %a[%j] block %c1 : memref<1024xf32, #tilewright.shared> -> vector<4xf32>
    vector.store %x, %d[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
    vector.store %y, %d[%j] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
    return
  }
}
