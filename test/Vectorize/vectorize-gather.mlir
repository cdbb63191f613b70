// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize -canonicalize -cse | FileCheck %s

// Coordinates are moved inside, and of a table without rows nothing is read.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @Embedding(
  // CHECK-SAME: %[[T:.*]]: tensor<?x64xf32>
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[T]]
  // CHECK-DAG: %[[ANY:.*]] = arith.cmpi sgt, %[[N]]
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK: %[[MASK:.*]] = vector.broadcast %[[ANY]] : i1 to vector<4x64xi1>
  // CHECK: vector.gather %[[T]][%{{.*}}, %{{.*}}] [%{{.*}}], %[[MASK]]
  // Columns are neighbours: 16 at most are said to be.
  // CHECK-SAME: {tilewright.gather_runs = array<i64: 1, 16>}
  func.func private @Embedding(%t: tensor<?x64xf32>, %i: tensor<40xi32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %row = arith.index_cast %a : i32 to index
      %column = linalg.index 1 : index
      %v = tensor.extract %t[%row, %column] : tensor<?x64xf32>
      linalg.yield %v : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }

  // A tile begins at a multiple of its columns.
  // CHECK-LABEL: func.func private @EmbeddingOfTiles(
  // CHECK: vector.gather {{.*}}{tilewright.gather_runs = array<i64: 1, 8>}
  func.func private @EmbeddingOfTiles(%t: tensor<50x72xf32>, %i: tensor<40xi32>, %o: tensor<40x72xf32>) -> tensor<40x72xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x72xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %row = arith.index_cast %a : i32 to index
      %column = linalg.index 1 : index
      %v = tensor.extract %t[%row, %column] : tensor<50x72xf32>
      linalg.yield %v : f32
    } -> tensor<40x72xf32>
    return %r : tensor<40x72xf32>
  }

  // Rows by number of a tensor without rows: a wrong number makes the coordinate a wrong one.
  // CHECK-LABEL: func.func private @FlatRows(
  // CHECK: vector.gather {{.*}}{tilewright.gather_outside, tilewright.gather_runs = array<i64: 1, 8>}
  func.func private @FlatRows(%t: tensor<512xf32>, %i: tensor<40xi32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %eight = arith.constant 8 : index
      %row = arith.index_cast %a : i32 to index
      %column = linalg.index 1 : index
      %first = arith.muli %row, %eight : index
      %place = arith.addi %first, %column : index
      %v = tensor.extract %t[%place] : tensor<512xf32>
      linalg.yield %v : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }

  // All of two loops, of which tiles take a part, is inside; one more group is not.
  // CHECK-LABEL: func.func private @Windows(
  // CHECK: vector.gather %arg0{{.*}}{tilewright.gather_runs = array<i64: 1, 8>}
  // CHECK: vector.gather %arg1{{.*}}{tilewright.gather_outside, tilewright.gather_runs = array<i64: 1, 8>}
  func.func private @Windows(%t: tensor<384xf32>, %u: tensor<376xf32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%out: f32):
      %eight = arith.constant 8 : index
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %first = arith.muli %row, %eight : index
      %sum = arith.addi %first, %column : index
      %place = arith.addi %sum, %eight : index
      %v = tensor.extract %t[%place] : tensor<384xf32>
      %w = tensor.extract %u[%place] : tensor<376xf32>
      %s = arith.addf %v, %w : f32
      linalg.yield %s : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }

  // Rows of an odd length, columns that are turned around.
  // CHECK-LABEL: func.func private @OtherColumns(
  // CHECK-NOT: tilewright.gather_runs
  func.func private @OtherColumns(%t: tensor<50x7xf32>, %u: tensor<50x64xf32>, %i: tensor<40xi32>, %o: tensor<40x64xf32>) -> tensor<40x64xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<40xi32>) outs(%o : tensor<40x64xf32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [4, 64], warps = [4, 1]>} {
    ^bb0(%a: i32, %out: f32):
      %row = arith.index_cast %a : i32 to index
      %column = linalg.index 1 : index
      %last = arith.constant 63 : index
      %back = arith.subi %last, %column : index
      %v = tensor.extract %t[%row, %column] : tensor<50x7xf32>
      %w = tensor.extract %u[%row, %back] : tensor<50x64xf32>
      %s = arith.addf %v, %w : f32
      linalg.yield %s : f32
    } -> tensor<40x64xf32>
    return %r : tensor<40x64xf32>
  }

  // No vector of one: the tensor may have no element to read.
  // CHECK-LABEL: func.func private @OneElement(
  // CHECK-SAME: %[[T:.*]]: tensor<?xf32>
  // CHECK: %[[ANY:.*]] = arith.cmpi sgt
  // CHECK: %[[V:.*]] = scf.if %[[ANY]] -> (f32) {
  // CHECK:   %[[E:.*]] = tensor.extract %[[T]]
  // CHECK:   scf.yield %[[E]]
  // CHECK: } else {
  // CHECK:   scf.yield %{{.*}} : f32
  // CHECK: }
  // CHECK: tensor.insert %[[V]]
  func.func private @OneElement(%t: tensor<?xf32>, %i: tensor<i64>, %o: tensor<f32>) -> tensor<f32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
        ins(%i : tensor<i64>) outs(%o : tensor<f32>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming>} {
    ^bb0(%a: i64, %out: f32):
      %row = arith.index_cast %a : i64 to index
      %v = tensor.extract %t[%row] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<f32>
    return %r : tensor<f32>
  }
}
