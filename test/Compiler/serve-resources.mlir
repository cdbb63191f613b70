// REQUIRES: tilewright-compile, ptxas
//
// Replies say what ptxas counts, where the command line asks for it.
//
// RUN: echo '{"id": 1, "input": "%s", "output": "%t.tw"}' > %t.requests
// RUN: tilewright-compile --serve --target=cuda:sm_80 --resources=json --ptxas=%ptxas < %t.requests | FileCheck %s

// CHECK: "id":1,"ok":true,"resources":[{"kernel":"f_elementwise_0","program":"cuda:sm_80","registers":{{[1-9][0-9]*}},"shared_dynamic":0,"shared_static":0,"spill_loads":0,"spill_stores":0,"stack":0}]
func.func @f(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
