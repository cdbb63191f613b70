# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of Transformers, torchvision and timm, small and with random weights: {name: function that gives (module, tensors)}.

Those of Transformers have two layers of 128 columns in four heads, two sequences of 24 tokens. Of the others the sizes are those of
their names, on images that are as small as they take.
"""

import functools

import torch

VOCABULARY = 101
LAYERS = {"vocab_size": VOCABULARY, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**LAYERS, "num_key_value_heads": 2, "max_position_embeddings": 64}
HEADS = {**GROUPED, "head_dim": 32}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2}
IMAGES = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 32, "patch_size": 8}
GPT = {"vocab_size": VOCABULARY, "n_embd": 128, "n_layer": 2, "n_head": 4, "n_positions": 64}
SEQUENCES = {"vocab_size": VOCABULARY, "d_model": 128, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
             "decoder_attention_heads": 4, "encoder_ffn_dim": 256, "decoder_ffn_dim": 256}
SOUND = {**LAYERS, "conv_dim": (16, 16, 16), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3,
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}


class Flat(torch.nn.Module):
    """A model whose results are tensors, in order."""

    def __init__(self, model, names, options):
        super().__init__()
        self.model, self.names, self.options = model, names, options

    def forward(self, *tensors):
        return tuple(flatten(self.model(**dict(zip(self.names, tensors)), **self.options)))


class Images(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images):
        return tuple(flatten(self.model(images)))


def flatten(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for each in values for tensor in flatten(each)]


def tokens(count=24):
    return torch.randint(0, VOCABULARY, (2, count))


def transformers(name, config, inputs=None, options=None, **sizes):
    """`name` of Transformers. inputs: {name: function that gives a tensor}."""
    import transformers as library
    config = getattr(library, config)(**sizes)
    kind = getattr(library, name)
    try:
        model = kind._from_config(config, attn_implementation="sdpa")
    except ValueError:  # it has none
        model = kind._from_config(config, attn_implementation="eager")
    inputs = inputs or {"input_ids": tokens}
    return Flat(model.eval(), list(inputs), options or {}), tuple(make() for make in inputs.values())


def images(library, name, size, **options):
    import importlib
    module = importlib.import_module("torchvision.models" if library == "torchvision" else library)
    model = (module.create_model(name, pretrained=False, num_classes=10, **options) if library == "timm"
             else getattr(module, name)(weights=None, **options)).eval()
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    return Images(model), (torch.randn(1, 3, size, size),)


def pictures(size=32):
    return {"pixel_values": lambda: torch.randn(2, 3, size, size)}


def causal(name, **sizes):
    return functools.partial(transformers, f"{name}ForCausalLM", f"{name}Config", options={"use_cache": False}, **sizes)


def encoder(name, **sizes):
    return functools.partial(transformers, f"{name}Model", f"{name}Config", **sizes)


MODELS = {
    "albert": encoder("Albert", embedding_size=16, **LAYERS),
    "bart": encoder("Bart", inputs={"input_ids": tokens, "decoder_input_ids": lambda: tokens(6)}, max_position_embeddings=64, **SEQUENCES),
    "bert": encoder("Bert", **LAYERS),
    "bert, padded": encoder("Bert", inputs={"input_ids": tokens, "attention_mask": lambda: (torch.arange(24) < torch.tensor([[24], [17]])).long()},
                            **LAYERS),
    "bloom": causal("Bloom", vocab_size=VOCABULARY, hidden_size=128, n_layer=2, n_head=4),
    "cohere": causal("Cohere", **GROUPED),
    "convnext": encoder("ConvNext", inputs=pictures(64), hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1]),
    "deberta-v2": encoder("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8, **LAYERS),
    "deepseek-v3": causal("DeepseekV3", moe_intermediate_size=32, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
                          kv_lora_rank=32, q_lora_rank=32, qk_rope_head_dim=16, qk_nope_head_dim=32, v_head_dim=32, first_k_dense_replace=1,
                          **{**GROUPED, "num_key_value_heads": 4}),
    "deit": encoder("DeiT", inputs=pictures(), **IMAGES),
    "dinov2": encoder("Dinov2", inputs=pictures(), hidden_size=128, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8),
    "distilbert": encoder("DistilBert", vocab_size=VOCABULARY, dim=128, hidden_dim=256, n_layers=2, n_heads=4),
    "electra": encoder("Electra", embedding_size=128, **LAYERS),
    "falcon": causal("Falcon", vocab_size=VOCABULARY, hidden_size=128, num_hidden_layers=2, num_attention_heads=4),
    "fnet": encoder("FNet", vocab_size=VOCABULARY, hidden_size=128, num_hidden_layers=2, intermediate_size=256),
    "gemma": causal("Gemma", **HEADS),
    "gemma2": causal("Gemma2", sliding_window=4, **HEADS),
    "glm": causal("Glm", pad_token_id=0, **HEADS),
    "gpt2": functools.partial(transformers, "GPT2LMHeadModel", "GPT2Config", options={"use_cache": False}, **GPT),
    "gpt-j": causal("GPTJ", rotary_dim=16, **GPT),
    "gpt-neo": causal("GPTNeo", vocab_size=VOCABULARY, hidden_size=128, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
                      window_size=4, intermediate_size=256, max_position_embeddings=64),
    "gpt-neox": causal("GPTNeoX", **LAYERS),
    "gpt-oss": causal("GptOss", num_local_experts=4, num_experts_per_tok=2, sliding_window=4, **HEADS),
    "granite": causal("Granite", **GROUPED),
    "hubert": encoder("Hubert", inputs={"input_values": lambda: torch.randn(2, 2000)}, **SOUND),
    "llama": causal("Llama", **GROUPED),
    "mamba": causal("Mamba", vocab_size=VOCABULARY, hidden_size=128, state_size=8, num_hidden_layers=2),
    "mamba2": causal("Mamba2", vocab_size=VOCABULARY, hidden_size=128, state_size=8, num_hidden_layers=2, num_heads=8, head_dim=32, expand=2,
                     n_groups=1, chunk_size=4),
    "mistral": causal("Mistral", sliding_window=4, **GROUPED),
    "mixtral": causal("Mixtral", num_local_experts=4, **GROUPED),
    "modernbert": encoder("ModernBert", pad_token_id=0, eos_token_id=1, bos_token_id=2, cls_token_id=2, sep_token_id=1, **LAYERS),
    "mpnet": encoder("MPNet", **LAYERS),
    "mpt": causal("Mpt", vocab_size=VOCABULARY, d_model=128, n_layers=2, n_heads=4, max_seq_len=64),
    "olmoe": causal("Olmoe", **EXPERTS, **GROUPED),
    "opt": causal("OPT", vocab_size=VOCABULARY, hidden_size=128, ffn_dim=256, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=128,
                  max_position_embeddings=64),
    "phi": causal("Phi", **GROUPED),
    "phi3": causal("Phi3", pad_token_id=0, **GROUPED),
    "qwen2": causal("Qwen2", **GROUPED),
    "qwen2-moe": causal("Qwen2Moe", moe_intermediate_size=32, shared_expert_intermediate_size=32, **EXPERTS, **GROUPED),
    "qwen3": causal("Qwen3", **HEADS),
    "recurrent-gemma": causal("RecurrentGemma", lru_width=128, attention_window_size=8, head_dim=32, num_key_value_heads=2, **LAYERS),
    "roberta": encoder("Roberta", **LAYERS),
    "rwkv": causal("Rwkv", vocab_size=VOCABULARY, hidden_size=128, num_hidden_layers=2, attention_hidden_size=128, intermediate_size=256),
    "segformer": functools.partial(transformers, "SegformerForSemanticSegmentation", "SegformerConfig", inputs=pictures(64),
                                   hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16),
    "siglip": functools.partial(transformers, "SiglipVisionModel", "SiglipVisionConfig", inputs=pictures(), **IMAGES),
    "squeezebert": encoder("SqueezeBert", embedding_size=128, **LAYERS),
    "swin": encoder("Swin", inputs=pictures(64), image_size=64, patch_size=4, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4),
    "t5": functools.partial(transformers, "T5ForConditionalGeneration", "T5Config",
                            inputs={"input_ids": tokens, "decoder_input_ids": lambda: tokens(6)}, options={"use_cache": False},
                            vocab_size=VOCABULARY, d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4),
    "vit": encoder("ViT", inputs=pictures(), **IMAGES),
    "wav2vec2": encoder("Wav2Vec2", inputs={"input_values": lambda: torch.randn(2, 2000)}, **SOUND),
    "whisper": functools.partial(transformers, "WhisperForConditionalGeneration", "WhisperConfig",
                                 inputs={"input_features": lambda: torch.randn(2, 16, 40), "decoder_input_ids": lambda: tokens(6)},
                                 options={"use_cache": False}, num_mel_bins=16, max_source_positions=20, max_target_positions=32, pad_token_id=0,
                                 bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, **SEQUENCES),
    "xlnet": encoder("XLNet", vocab_size=VOCABULARY, d_model=128, n_layer=2, n_head=4, d_inner=256),
    **{f"torchvision {name}": functools.partial(images, "torchvision", name, size, **options) for name, size, options in (
        ("alexnet", 96, {}), ("convnext_tiny", 64, {}), ("densenet121", 64, {}), ("efficientnet_b0", 64, {}), ("efficientnet_v2_s", 64, {}),
        ("googlenet", 64, {"init_weights": True}), ("inception_v3", 96, {"init_weights": True}), ("maxvit_t", 224, {}), ("mnasnet0_5", 64, {}),
        ("mobilenet_v2", 64, {}), ("mobilenet_v3_small", 64, {}), ("regnet_y_400mf", 64, {}), ("resnet18", 64, {}), ("resnext50_32x4d", 64, {}),
        ("shufflenet_v2_x0_5", 64, {}), ("squeezenet1_1", 64, {}), ("swin_t", 64, {}), ("swin_v2_t", 64, {}), ("vgg11_bn", 64, {}),
        ("vit_b_32", 224, {}))},
    **{f"timm {name}": functools.partial(images, "timm", name, size) for name, size in (
        ("coatnet_nano_rw_224", 224), ("convmixer_768_32", 64), ("cspresnet50", 64), ("dla34", 64), ("edgenext_xx_small", 64),
        ("fastvit_t8", 64), ("ghostnet_100", 64), ("gmlp_ti16_224", 224), ("hrnet_w18_small", 64), ("levit_128s", 224), ("mixer_s32_224", 224),
        ("mobilevit_xxs", 64), ("nfnet_f0", 64), ("poolformer_s12", 64), ("pvt_v2_b0", 64), ("repvgg_a0", 64), ("res2net50_26w_4s", 64),
        ("resmlp_12_224", 224), ("skresnet18", 64), ("starnet_s1", 64))},
}
