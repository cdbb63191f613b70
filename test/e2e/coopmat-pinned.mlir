// Cooperative matrices of 8x8x8 with schedules that small problems would not
// get: two stages with ragged edges, a result whose rows are B's columns, bytes
// without sign. scripts/test runs them on the newer Vulkan, exactly.

func.func @accumulate(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 16],
           warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "coopmat.m8n8k8.f16.f32">}
       ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (n, m)>
func.func @turned(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %p = linalg.contract indexing_maps = [#a, #b, #c]
       {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 16, 32],
           warps = [1, 2, 1], stages = 2, promote = [0, 1], mma = "coopmat.m8n8k8.s8.s32">}
       ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %p : tensor<?x?xi32>
}

func.func @unsigned(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %p = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>,
           tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16],
           warps = [1, 1, 1], promote = [0, 1], mma = "coopmat.m8n8k8.u8.u32">}
       ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %p : tensor<?x?xi32>
}
