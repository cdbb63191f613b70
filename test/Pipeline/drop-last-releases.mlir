// RUN: tilewright-opt %s -tilewright-drop-last-releases | FileCheck %s

#tile = #tilewright.shared<swizzle = [3, 3, 3]>
!one = !tilewright.ring<1, memref<64x64xf16, #tile>>
!two = !tilewright.ring<2, memref<64x64xf16, #tile>>

// Of two stages the last two releases are waited for by nobody: position p + 2 is never filled.
// CHECK-LABEL: func.func private @BehindTheLoop
// CHECK: tilewright.warps[0, 4]
// CHECK: scf.for
// CHECK: tilewright.release
// CHECK: tilewright.release %{{.*}}[%arg0]
// CHECK-NOT: tilewright.release
func.func private @BehindTheLoop(%a: index, %b: index, %c: index, %steps: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tilewright.ring : !two
  tilewright.warps [0, 4] {
    scf.for %p = %c0 to %steps step %c1 {
      tilewright.release %ring[%p] : !two
    }
    tilewright.release %ring[%a] : !two
    tilewright.release %ring[%b] : !two
    tilewright.release %ring[%c] : !two
  }
  return
}

// A loop of one step is none; a branch is on the way or not.
// CHECK-LABEL: func.func private @InBranches
// CHECK: tilewright.release %{{.*}}[%arg0]
// CHECK-NOT: tilewright.release
func.func private @InBranches(%a: index, %b: index, %any: i1) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %ring = tilewright.ring : !two
  tilewright.warps [0, 4] {
    tilewright.release %ring[%a] : !two
    scf.if %any {
      scf.for %p = %c32 to %c40 step %c32 {
        tilewright.release %ring[%p] : !two
      }
      tilewright.release %ring[%b] : !two
    }
  }
  return
}

// Nothing is known of what stands in front of a loop, or in one.
// CHECK-LABEL: func.func private @InLoops
// CHECK-COUNT-2: tilewright.release
func.func private @InLoops(%a: index, %steps: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = tilewright.ring : !two
  tilewright.warps [0, 4] {
    tilewright.release %ring[%a] : !two
    scf.for %p = %c0 to %steps step %c1 {
      tilewright.release %ring[%p] : !two
    }
  }
  return
}

// Filled once: no release is left. Where that is not seen of the producer, all stay.
// CHECK-LABEL: func.func private @FilledOnce
// CHECK: %[[ONE:.*]] = tilewright.ring : <1,
// CHECK: %[[TWO:.*]] = tilewright.ring : <2,
// CHECK: tilewright.acquire %[[ONE]][%{{.*}}] {known_empty} :
// CHECK: tilewright.acquire %[[TWO]][%{{.*}}] :
// CHECK: tilewright.warps[0, 4]
// CHECK-NOT: tilewright.release %[[ONE]]
// CHECK: tilewright.release %[[TWO]]
func.func private @FilledOnce(%a: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %one = tilewright.ring : !one
  %two = tilewright.ring : !two
  tilewright.warps [4, 1] {
    %s = tilewright.acquire %one[%c0] : !one
    %t = tilewright.acquire %two[%a] : !two
  }
  tilewright.warps [0, 4] {
    tilewright.release %one[%c0] : !one
    tilewright.release %two[%a] : !two
  }
  return
}
