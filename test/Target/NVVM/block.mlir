// RUN: tilewright-opt %s -tilewright-place-shared-memory -tilewright-print-code -o /dev/null | FileCheck %s

// Shared memory, barriers, shuffles, loops, small scalars and types.

#t = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80"}>
#l = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #t} {
  // Static shared memory and a 16-byte access to it.
  // CHECK-LABEL: // kernel shared: ptx, dynamic shared memory 0
  // CHECK: .shared .align 128 .b8 shared_shared_0[4096]
  // CHECK: st.shared.v4.b32
  // CHECK: bar{{(rier)?}}.{{.*}}sync
  // CHECK: ld.shared.b32
  func.func private @shared(%x: memref<?xf32>, %y: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                  tilewright.launch = #l} {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %s = memref.alloc() : memref<1024xf32, #tilewright.shared>
    %lane = gpu.lane_id
    %i = arith.muli %lane, %c4 : index
    %v = vector.load %x[%i] {alignment = 16} : memref<?xf32>, vector<4xf32>
    vector.store %v, %s[%i] {alignment = 16} : memref<1024xf32, #tilewright.shared>, vector<4xf32>
    gpu.barrier
    %j = arith.addi %lane, %c1 : index
    %w = memref.load %s[%j] : memref<1024xf32, #tilewright.shared>
    memref.store %w, %y[%lane] : memref<?xf32>
    return
  }

  // More than 48 KiB: one dynamic array, offsets within it.
  // CHECK-LABEL: // kernel dynamic: ptx, dynamic shared memory 65540
  // CHECK: .extern .shared .align 128 .b8 dynamic_shared[]
  // CHECK: st.shared.b32 [dynamic_shared+65536]
  func.func private @dynamic(%x: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["readwrite"], tilewright.launch = #l} {
    %c0 = arith.constant 0 : index
    %s = memref.alloc() : memref<16384xf32, #tilewright.shared>
    %r = memref.alloc() : memref<1xf32, #tilewright.shared>
    %v = memref.load %x[%c0] : memref<?xf32>
    memref.store %v, %r[%c0] : memref<1xf32, #tilewright.shared>
    gpu.barrier
    %lane = gpu.lane_id
    %w = memref.load %r[%c0] : memref<1xf32, #tilewright.shared>
    memref.store %w, %s[%lane] : memref<16384xf32, #tilewright.shared>
    gpu.barrier
    %u = memref.load %s[%c0] : memref<16384xf32, #tilewright.shared>
    %kept = memref.load %r[%c0] : memref<1xf32, #tilewright.shared>
    %sum = arith.addf %u, %kept : f32
    memref.store %sum, %x[%c0] : memref<?xf32>
    return
  }

  // CHECK-LABEL: // kernel reduce
  // CHECK: add.rn.f32
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
  // CHECK: shfl.sync.bfly.b32 {{.*}}, 1, 31, -1
  func.func private @reduce(%x: memref<?xf32>, %y: memref<?xf32>, %n: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.launch = #l} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %w = arith.constant 32 : i32
    %s16 = arith.constant 16 : i32
    %s1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %lane = gpu.lane_id
    %sum = scf.for %i = %lane to %n step %c32 iter_args(%acc = %zero) -> f32 {
      %v = memref.load %x[%i] : memref<?xf32>
      %a = arith.addf %acc, %v : f32
      scf.yield %a : f32
    }
    %p0, %ok0 = gpu.shuffle xor %sum, %s16, %w : f32
    %q0 = arith.addf %sum, %p0 : f32
    %p1, %ok1 = gpu.shuffle xor %q0, %s1, %w : f32
    %q1 = arith.addf %q0, %p1 : f32
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %q1, %y[%c0] : memref<?xf32>
    }
    return
  }

  // Named barriers; scalars of fewer than 32 bits arrive as 32 bits.
  // CHECK-LABEL: // kernel named
  // CHECK: .param .u32 named_param_1
  // CHECK: .param .u32 named_param_2
  // CHECK: .param .u64 named_param_3
  // CHECK: bar{{(rier)?}}.{{.*}}arrive{{.*}} 1, 64
  // CHECK: bar{{(rier)?}}.{{.*}}sync{{.*}} 1, 64
  func.func private @named(%x: memref<?xf16>, %h: f16, %c: i1, %k: i64)
      attributes {tilewright.kernel, tilewright.access = ["readwrite"], tilewright.launch = #l} {
    %lane = gpu.lane_id
    %z = arith.constant 0.0 : f16
    %s = arith.select %c, %h, %z : f16
    memref.store %s, %x[%lane] : memref<?xf16>
    tilewright.barrier arrive 1 threads = 64
    tilewright.barrier 1 threads = 64
    %i = arith.index_cast %k : i64 to index
    memref.store %z, %x[%i] : memref<?xf16>
    return
  }

  // bf16 in and out through f32, i1 as bytes, correctly rounded division and root.
  // CHECK-LABEL: // kernel types
  // CHECK: div.rn.f32
  // CHECK: sqrt.rn.f32
  // CHECK: cvt.rn.bf16.f32
  // CHECK: st.global.b8
  func.func private @types(%x: memref<?xbf16>, %m: memref<?xi1>)
      attributes {tilewright.kernel, tilewright.access = ["readwrite", "write"], tilewright.launch = #l} {
    %lane = gpu.lane_id
    %v = memref.load %x[%lane] : memref<?xbf16>
    %f = arith.extf %v : bf16 to f32
    %one = arith.constant 3.0 : f32
    %q = arith.divf %one, %f : f32
    %r = math.sqrt %q : f32
    %b = arith.truncf %r : f32 to bf16
    memref.store %b, %x[%lane] : memref<?xbf16>
    %lt = arith.cmpf olt, %f, %one : f32
    memref.store %lt, %m[%lane] : memref<?xi1>
    return
  }

  // CHECK-LABEL: // kernel mma
  // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
  func.func private @mma(%x: memref<?xf16>, %y: memref<?xbf16>, %o: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"], tilewright.launch = #l} {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %a = vector.load %x[%c0] {alignment = 16} : memref<?xf16>, vector<8xf16>
    %a0 = vector.extract %a[0] : f16 from vector<8xf16>
    %a1 = vector.extract %a[1] : f16 from vector<8xf16>
    %a2 = vector.extract %a[2] : f16 from vector<8xf16>
    %a3 = vector.extract %a[3] : f16 from vector<8xf16>
    %r:4 = tilewright.mma_fragment "mma.m16n8k16.f16.f32"
      (%a0, %a1, %a2, %a3, %a0, %a1, %a2, %a3 : f16, f16, f16, f16, f16, f16, f16, f16),
      (%a0, %a1, %a2, %a3 : f16, f16, f16, f16), (%z, %z, %z, %z : f32, f32, f32, f32)
      -> f32, f32, f32, f32
    %b = vector.load %y[%c0] {alignment = 16} : memref<?xbf16>, vector<4xbf16>
    %b0 = vector.extract %b[0] : bf16 from vector<4xbf16>
    %b1 = vector.extract %b[1] : bf16 from vector<4xbf16>
    %s:4 = tilewright.mma_fragment "mma.m16n8k16.bf16.f32"
      (%b0, %b1, %b0, %b1, %b0, %b1, %b0, %b1 : bf16, bf16, bf16, bf16, bf16, bf16, bf16, bf16),
      (%b0, %b1, %b0, %b1 : bf16, bf16, bf16, bf16), (%r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32)
      -> f32, f32, f32, f32
    %v = vector.from_elements %s#0, %s#1, %s#2, %s#3 : vector<4xf32>
    vector.store %v, %o[%c0] {alignment = 16} : memref<?xf32>, vector<4xf32>
    return
  }
}
