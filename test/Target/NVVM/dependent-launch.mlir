// RUN: tilewright-opt %s -tilewright-dependent-launch | FileCheck %s

#l = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>
module {
  // What is the block's own precedes the wait: memory, barriers in it, the cluster that comes together.
  // CHECK-LABEL: @ring
  // CHECK: memref.alloc
  // CHECK: scf.if
  // CHECK: tilewright.mbarrier_init
  // CHECK: tilewright.cluster_barrier
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: scf.if
  // CHECK: memref.load
  func.func private @ring(%a: memref<?xf32>, %b: memref<?xf32>, %first: i1)
      attributes {tilewright.kernel, tilewright.launch = #l} {
    %c0 = arith.constant 0 : index
    %barriers = memref.alloc() : memref<2xi64, #tilewright.shared>
    scf.if %first {
      tilewright.mbarrier_init %barriers[%c0] arrivals 1 : memref<2xi64, #tilewright.shared>
      tilewright.mbarrier_fence
    }
    tilewright.cluster_barrier
    scf.if %first {
      %x = memref.load %a[%c0] : memref<?xf32>
      memref.store %x, %b[%c0] : memref<?xf32>
    }
    return
  }

  // CHECK-LABEL: @reads
  // CHECK-NEXT: gpu.thread_id
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: memref.load
  func.func private @reads(%a: memref<?xf32>, %b: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.launch = #l} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
    return
  }

  // Whoever comes behind it counts on what came before it having ended, too.
  // CHECK-LABEL: @nothing
  // CHECK-NEXT: nvvm.griddepcontrol wait
  // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
  // CHECK-NEXT: return
  func.func private @nothing() attributes {tilewright.kernel, tilewright.launch = #l} {
    return
  }

  // CHECK-LABEL: @host
  // CHECK-NOT: griddepcontrol
  func.func @host() {
    return
  }
}
