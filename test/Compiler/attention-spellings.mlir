// Attention as frameworks spell it is one kernel, and no tensor of queries x keys is in memory, nor any other but keys and values behind those of a past. In front of it keys may be put behind those of the past.
// REQUIRES: tilewright-compile
// RUN: tilewright-compile %S/Inputs/attention-spellings.mlir --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s --implicit-check-not='several kernels of attention'
// RUN: tilewright-compile %S/Inputs/attention-spellings.mlir --target=cuda:sm_80,cuda:sm_90a,vulkan,cpu:x86-64-v3 --stop-after=place --emit=mlir -o - | FileCheck %s --check-prefix=MEMORY '--implicit-check-not={{dispatch.*[48]x24x40xf}}' '--implicit-check-not={{@(onnx_(p[^a]|[^p])|[^o])[^ ]*\(.*tilewright\.arena}}'

// CHECK: @onnx_plain({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_half({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_causal({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_causal_half({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_boolean({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_window({{.*}}): 1 kernel{{$}}
// CHECK: @jax_window({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_lengths({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_both_sides({{.*}}): 1 kernel{{$}}
// CHECK: @onnx_past({{.*}}): 5 kernels{{$}}
// CHECK: @onnx_past_window({{.*}}): 5 kernels{{$}}
// CHECK: @onnx_scores({{.*}}): 4 kernels{{$}}
// CHECK: @onnx_softcap({{.*}}): 1 kernel{{$}}
// CHECK: @bert_padding({{.*}}): 1 kernel{{$}}
// CHECK: @torch_safe({{.*}}): 1 kernel{{$}}
// CHECK: @guarded_sums({{.*}}): 1 kernel{{$}}
// CHECK: @torch_f16({{.*}}): 1 kernel{{$}}
// CHECK: @torch_bf16({{.*}}): 1 kernel{{$}}
// CHECK: @torch_masked_fill({{.*}}): 1 kernel{{$}}
// CHECK: @torch_masked_fill_bf16({{.*}}): 1 kernel{{$}}
// CHECK: @gpt2_causal({{.*}}): 1 kernel{{$}}
// CHECK: @gpt2_masked_bias({{.*}}): 1 kernel{{$}}
// CHECK: @alibi_causal({{.*}}): 1 kernel{{$}}
// CHECK: @llama_half({{.*}}): 1 kernel{{$}}
// CHECK: @llama_causal({{.*}}): 1 kernel{{$}}
// CHECK: @einsum_tokens_first({{.*}}): 1 kernel{{$}}
// CHECK: @one_query({{.*}}): 1 kernel{{$}}
// CHECK: @one_query_a_head({{.*}}): 1 kernel{{$}}
// CHECK: @one_query_projected({{.*}}): 2 kernels{{$}}
// CHECK: @log_sum_exp({{.*}}): 1 kernel{{$}}
// CHECK: @log_sum_exp_f16({{.*}}): 2 kernels{{$}}
// CHECK: onnx_plain_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: onnx_half_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are f32, where the text rounds them to f16
// CHECK: onnx_causal_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: onnx_causal_half_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are f32, where the text rounds them to f16
// CHECK: onnx_boolean_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NOT: sees no key
// CHECK: onnx_window_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: onnx_past_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: onnx_past_window_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: a length says where the diagonal lies, which the numbers of queries and keys do not
// CHECK: onnx_scores_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are computed in front of it, too: something else reads them
// CHECK: onnx_softcap_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: a query that sees no key gets zeros, where the text gives NaN
// CHECK: bert_padding_attention_0: 2 ops in one kernel
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: torch_safe_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NOT: sees no key
// CHECK: guarded_sums_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NOT: sees no key
// CHECK: torch_f16_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are f32, where the text rounds them to f16
// CHECK: torch_bf16_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are f32, where the text rounds them to bf16
// CHECK: torch_masked_fill_attention_0: 2 ops in one kernel
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: one op computes the mask that the text has in parts
// CHECK-NEXT: the mask is computed beside the scores, and never written: it is one for all queries, whose blocks compute it in about 0.0 us; a kernel of its own takes 3.0
// CHECK: torch_masked_fill_bf16_attention_0: 2 ops in one kernel
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: gpt2_causal_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: gpt2_masked_bias_attention_0:
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: the mask takes the score's place
// CHECK: the mask is computed beside the scores
// CHECK-NEXT: keep is computed beside the scores
// CHECK: alibi_causal_attention_0: 2 ops in one kernel
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: the mask is computed beside the scores, and never written: 2 blocks compute each of its elements, in the time of 4 operations; writing and reading it takes the time of 64
// CHECK: llama_half_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK-NEXT: scores are f32, where the text rounds them to f16
// CHECK: llama_causal_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: einsum_tokens_first_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: one_query_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: one_query_a_head_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: one_query_projected_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: log_sum_exp_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention
// CHECK: log_sum_exp_f16_attention_0: 1 op
// CHECK: found in linalg: contraction, softmax and contraction are one attention

// What became of masks and repeated heads, on one target.
// MEMORY-LABEL: module @cuda_sm_80
// MEMORY: func.func private @onnx_causal_attention_0
// MEMORY-NEXT: causal = "top_left"
// MEMORY: func.func private @onnx_causal_half_attention_0
// MEMORY-NEXT: causal = "top_left"
// MEMORY: func.func private @onnx_boolean_attention_0
// MEMORY-NEXT: mask({{.*}} : tensor<2x4x24x40xi1>)
// MEMORY: func.func private @onnx_window_attention_0
// MEMORY-NEXT: causal = "top_left", {{.*}}window = array<i64: 5, -1>
// MEMORY: func.func private @onnx_lengths_attention_0
// MEMORY: lengths(%{{.*}}causal = "bottom_right"
// MEMORY: func.func private @onnx_both_sides_attention_0
// MEMORY-NEXT: window = array<i64: 5, 3>
// MEMORY: func.func private @onnx_past_attention_0
// MEMORY-NEXT: causal = "bottom_right"
// MEMORY: func.func private @onnx_softcap_attention_0
// MEMORY-NEXT: softcap = 2.0
// MEMORY: func.func private @bert_padding_attention_0
// MEMORY: mask({{.*}} : tensor<2x40xf32>)
// MEMORY: func.func private @torch_masked_fill_attention_0
// MEMORY: mask({{.*}} : tensor<2x40xf32>)
// MEMORY: func.func private @gpt2_causal_attention_0
// MEMORY-NEXT: causal = "top_left"
// MEMORY: func.func private @gpt2_masked_bias_attention_0
// MEMORY: mask({{.*}} : tensor<2x24x40xf32>) keep({{.*}} : tensor<24x40xi1>)
// MEMORY: func.func private @alibi_causal_attention_0
// MEMORY: causal = "top_left"
// MEMORY: func.func private @llama_half_attention_0
// MEMORY-NEXT: ins({{.*}} : tensor<2x2x2x24x16xf16>, tensor<2x2x40x16xf16>, tensor<2x2x40x16xf16>) mask({{.*}} : tensor<2x24x40xf16>) outs({{.*}} : tensor<2x24x2x2x16xf16>)
// MEMORY: func.func private @log_sum_exp_attention_0
// MEMORY-NEXT: -> tensor<2x4x24x16xf32>, tensor<2x4x24xf32>
