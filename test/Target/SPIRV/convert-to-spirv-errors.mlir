// RUN: tilewright-opt %s -tilewright-convert-to-spirv -verify-diagnostics -split-input-file

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8, shared_memory = 32768, max_threads = 1024, types = ["f32", "i32", "i1"], storage = ["f32", "i32"]}>
module attributes {tilewright.target = #target} {
  func.func private @ThreadId(%a: memref<?xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{says nothing about lanes in Vulkan}}
    %t = gpu.thread_id x
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @UnknownOp(%a: memref<?xf32>, %x: f32) attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{'math.erf' op is not thread form, or has no counterpart in SPIR-V; expand it before tilewright-convert-to-spirv}}
    %y = math.erf %x : f32
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  // expected-error @+1 {{has an argument of type 'memref<?x4xf32>'; thread form takes memref<?xT> in global memory}}
  func.func private @RankTwo(%a: memref<?x4xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @RankThreeVector() attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{thread form has scalars, and vectors of rank 1 with up to 16 elements}}
    %v = arith.constant dense<0.0> : vector<2x2x2xf32>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8, types = ["f32", "i32"]}>
module attributes {tilewright.target = #target} {
  // expected-error @+1 {{needs f16 as one of the target's types; vulkan:1.3 lacks it}}
  func.func private @LacksHalf(%a: memref<?xf16>, %i: index) attributes {tilewright.kernel, tilewright.launch = #launch} {
    %x = memref.load %a[%i] : memref<?xf16>
    memref.store %x, %a[%i] : memref<?xf16>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @Swizzle(%i: index) attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{is not thread form: shared memory is one memref<Nxf32, #tilewright.shared> at the top of the kernel}}
    %s = memref.alloc() : memref<512xf32, #tilewright.shared<swizzle = [2, 2, 3]>>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @ShuffleWidth(%x: f32) attributes {tilewright.kernel, tilewright.launch = #launch} {
    %c = arith.constant 4 : i32
    // expected-error @+1 {{has a width other than the constant 8, the target's subgroup size}}
    %y, %p = gpu.shuffle xor %x, %c, %c : f32
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @PartialBarrier() attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{names some of the block's threads, and Vulkan has barriers of whole blocks only}}
    tilewright.barrier 1 threads = 32
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @LargeIndex(%a: memref<?xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{has a value that SPIR-V kernels cannot hold; indices have 32 bits}}
    %c = arith.constant 4294967296 : index
    return
  }
}

// -----

#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  // expected-error @+1 {{has no tilewright.launch, which says how many threads a block has}}
  func.func private @NoLaunch(%a: memref<?xf32>) attributes {tilewright.kernel} {
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
// expected-error @+1 {{is in no program: a module with 'tilewright.target'}}
func.func private @NoProgram(%a: memref<?xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
  return
}

// -----

#launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @MemrefThroughIf(%a: memref<?xf32>, %b: memref<?xf32>, %c: i1, %i: index) attributes {tilewright.kernel, tilewright.launch = #launch} {
    %m = arith.select %c, %a, %b : memref<?xf32>
    // expected-error @+1 {{accesses a memref that is neither an argument of rank 1 nor shared memory}}
    %x = memref.load %m[%i] : memref<?xf32>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 8, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @FragmentOfDifferentElements() attributes {tilewright.kernel, tilewright.launch = #launch} {
    // expected-error @+1 {{is a fragment of different elements}}
    %v = arith.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : vector<2x2xf32>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 8, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @RowsNotInChunks(%o: memref<?xf32>) attributes {tilewright.kernel, tilewright.launch = #launch} {
    %s = memref.alloc() : memref<128xf32, #tilewright.shared>
    %zero = arith.constant 0 : index
    %ten = arith.constant 10 : index
    // expected-error @+1 {{has rows 10 elements apart, in an array of chunks of 4}}
    %f = tilewright.load_fragment "acc" %s[%zero] stride %ten : memref<128xf32, #tilewright.shared> -> vector<8x8xf32>
    %v = vector.load %s[%zero] {alignment = 16} : memref<128xf32, #tilewright.shared>, vector<4xf32>
    return
  }
}

// -----

#launch = #tilewright.launch<threads = 8, subgroup = 8, tiles = affine_map<() -> (1)>>
#target = #tilewright.target<"vulkan:1.3", "spirv", {version = "1.3", subgroup = 8}>
module attributes {tilewright.target = #target} {
  func.func private @NoMatrixArithmetic(%x: f32) attributes {tilewright.kernel, tilewright.launch = #launch} {
    %f = vector.broadcast %x : f32 to vector<8x8xf32>
    // expected-error @+1 {{is not done on whole cooperative matrices; put it into a tilewright.map_fragments}}
    %v = math.sqrt %f : vector<8x8xf32>
    return
  }
}
