// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'block' has -1; accepted are 0 to 1048576}}
func.func private @negative_tile() attributes {a = #tilewright.lowering_config<strategy = streaming, block = [-1]>}

// -----

// expected-error @below {{unknown strategy 'fast'; known: matrix_unit, simt_contraction, skinny_contraction, reduction, streaming, attention, irregular, warp_specialized}}
func.func private @unknown_strategy() attributes {a = #tilewright.lowering_config<strategy = fast>}

// -----

// expected-error @below {{'stages' is 99; accepted are 1 to 16}}
func.func private @too_many_stages() attributes {a = #tilewright.lowering_config<strategy = streaming, stages = 99>}

// -----

// expected-error @below {{swizzle shift must be at least its number of bits}}
func.func private @overlapping_swizzle() attributes {a = #tilewright.shared<swizzle = [3, 2, 1]>}

// -----

// expected-error @below {{swizzle fold must be above its shift}}
func.func private @fold_below_shift() attributes {a = #tilewright.shared<swizzle = [3, 2, 3, 3]>}

// -----

func.func @dispatch_of_nothing(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{kernel @nothing does not exist}}
  %r = tilewright.dispatch @nothing() outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @extents_differ(%a: vector<4x8xf32>, %b: vector<4x4xf32>, %c: vector<4x4xf32>) -> vector<4x4xf32> {
  // expected-error @below {{extents differ: 8 and 4 for the same loop}}
  %r = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
       : vector<4x8xf32>, vector<4x4xf32>, vector<4x4xf32>
  return %r : vector<4x4xf32>
}

// -----

func.func private @fragment_use(%s: memref<64xf32, #tilewright.shared>, %i: index) {
  %c8 = arith.constant 8 : index
  // expected-error @below {{has use 'c'; a, b, acc exist}}
  %f = tilewright.load_fragment "c" %s[%i] stride %c8 : memref<64xf32, #tilewright.shared> -> vector<8x8xf32>
  return
}

// -----

func.func private @fragment_of_two_dims(%s: memref<?x8xf32>, %i: index) {
  // expected-error @below {{accesses memory of rank 1, not 'memref<?x8xf32>'}}
  %f = tilewright.load_fragment "a" %s[%i] stride %i : memref<?x8xf32> -> vector<8x8xf32>
  return
}

// -----

func.func private @fragment_type(%s: memref<64xf32, #tilewright.shared>, %i: index, %f: vector<8x8xf16>) {
  %c8 = arith.constant 8 : index
  // expected-error @below {{moves vectors of rank 2 of the memory's type, not 'vector<8x8xf16>'}}
  tilewright.store_fragment %f, %s[%i] stride %c8 : vector<8x8xf16>, memref<64xf32, #tilewright.shared>
  return
}

// -----

func.func private @fragment_stride(%s: memref<64xf32, #tilewright.shared>, %i: index, %f: vector<16x8xf32>) {
  %c8 = arith.constant 8 : index
  // expected-error @below {{has rows that overlap: stride 8}}
  tilewright.store_fragment transposed %f, %s[%i] stride %c8 : vector<16x8xf32>, memref<64xf32, #tilewright.shared>
  return
}

// -----

func.func private @map_of_two_types(%f: vector<8x8xf16>, %g: vector<8x8xf32>) {
  // expected-error @below {{maps fragments of 'vector<8x8xf16>' to one of the same type, element by element, not 'vector<8x8xf32>' as 'f32'}}
  %r = tilewright.map_fragments %f, %g : (vector<8x8xf16>, vector<8x8xf32>) -> vector<8x8xf16> {
  ^bb0(%x: f16, %y: f32):
    tilewright.yield %x : f16
  }
  return
}

// -----

func.func private @map_with_memory(%f: vector<8x8xf32>, %s: memref<64xf32>, %i: index) {
  // expected-error @below {{body has memref.load, which is not arithmetic on scalars}}
  %r = tilewright.map_fragments %f : (vector<8x8xf32>) -> vector<8x8xf32> {
  ^bb0(%x: f32):
    %y = memref.load %s[%i] : memref<64xf32>
    tilewright.yield %y : f32
  }
  return
}

// -----

// expected-error @below {{'cluster' has the blocks along each of 2 tiled loops, 1 to 8 in all}}
func.func private @cluster_of_sixteen() attributes {tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (4, 4)>, cluster = [4, 4]>}

// -----

// expected-error @below {{a launch needs 'threads', 'subgroup' and 'tiles'}}
func.func private @no_tiles() attributes {tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32>}

// -----

// expected-error @below {{unknown key 'blocks'; known: threads, subgroup, tiles, dims, persistent, cluster}}
func.func private @other_key() attributes {tilewright.launch = #tilewright.launch<threads = 128, blocks = 3>}

// -----

// expected-error @below {{'cluster' has 2 entries but 'block' has 3}}
func.func private @cluster_of_other_loops() attributes {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], cluster = [2, 1]>}

// -----

// expected-error @below {{'stream_k' is -1; accepted are numbers of blocks up to 65536, or 0}}
func.func private @negative_blocks() attributes {a = #tilewright.lowering_config<strategy = warp_specialized, stream_k = -1>}

// -----

// expected-error @below {{4 of 7 blocks share the sum of one tile, and there is room for 3 parts; make 'splits' 4}}
func.func private @too_few_parts() attributes {a = #tilewright.shares<tiles = 2, steps = 16, blocks = 7, parts = 3>}

// -----

// expected-error @below {{100000 tiles of 1000 steps are too many to share among 132 blocks in numbers of 32 bits}}
func.func private @too_much_work() attributes {a = #tilewright.shares<tiles = 100000, steps = 1000, blocks = 132, parts = 2>}

// -----

// expected-error @below {{there are no steps to share}}
func.func private @no_steps() attributes {a = #tilewright.shares<tiles = 1, steps = 0, blocks = 1, parts = 1>}

// -----

// expected-error @below {{'tilewright.tuning' must be an array of records: dictionaries of 'target', 'record', 'problem', 'shape' and 'config'}}
module attributes {tilewright.tuning = [{}]} {
}

// -----

// expected-error @below {{expected 'mma' to be an instruction's name in quotes, as --list-instructions prints it}}
module attributes {tilewright.a = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16], mma = 3>} {}
