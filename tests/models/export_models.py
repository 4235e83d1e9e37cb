"""Exports real architectures in small random configurations, with eager results, as case folders.

python export_models.py OUT [NAME|GROUP ...]    (torch 2.15, numpy, torchvision, timm, transformers)

Then `aotc verify OUT`. Nothing is downloaded. A model that torch itself cannot export is named and left out.
"""
import os
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import make_programs

AUTO = torch.export.Dim.AUTO
R = torch.randn
BF16 = torch.bfloat16
MODELS = {}


def model(name, make, cases, dtype=torch.float32, **options):
    """Registers a model: `make` builds it, `cases` yields (args, kwargs) per call; `options` as for write()."""

    def run(out):
        torch.manual_seed(0)
        module = shake(make()).to(dtype).eval()
        calls = [cast(c, dtype) for c in cases()]
        try:
            make_programs.write(out, name, module, calls, **options)
        except Exception:
            make_programs.write(out, name, module, calls, decomp=False, **options)
            return "as exported only: torch does not decompose it"

    MODELS[name] = run


def shake(module):
    """Takes statistics, scales and biases away from 0 and 1, where a wrong program could have the right numbers."""
    with torch.no_grad():
        for p in module.parameters():
            if p.is_floating_point() and p.numel() > 1 and p.std() == 0:
                p.add_(torch.randn_like(p) * 0.1)
        for name, b in module.named_buffers():
            if name.endswith("running_mean"):
                b.normal_(0, 0.1)
            elif name.endswith("running_var"):
                b.uniform_(0.5, 1.5)
    return module


def cast(call, dtype):
    return torch.utils._pytree.tree_map(lambda x: x.to(dtype) if torch.is_tensor(x) and x.is_floating_point() else x, call)


# ---- vision


def images(name, make, size=64, batches=(2,), **options):
    """Several batch sizes make the batch dynamic."""
    if len(batches) > 1:
        options["dynamic_shapes"] = ({0: AUTO},)
    model(name, make, lambda: [((R(b, 3, size, size),), {}) for b in batches], **options)


def torchvision_models():
    import torchvision.models as tv
    from torchvision.models import convnext, swin_transformer as swin
    from torchvision.models.detection.backbone_utils import resnet_fpn_backbone

    for name in ["resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "densenet121"]:
        images(name, lambda name=name: getattr(tv, name)(weights=None), batches=(2, 5))
    for name in ["efficientnet_b0", "efficientnet_v2_s", "regnet_y_400mf", "mnasnet0_5", "squeezenet1_1", "googlenet"]:
        images(name, lambda name=name: getattr(tv, name)(weights=None))
    images("resnet18_bf16", lambda: tv.resnet18(weights=None), dtype=BF16)
    images("inception_v3", lambda: tv.inception_v3(weights=None, init_weights=False), size=75)
    images("vgg11_bn_features", lambda: tv.vgg11_bn(weights=None).features)
    vit = lambda: tv.VisionTransformer(image_size=64, patch_size=16, num_layers=2, num_heads=4, hidden_dim=64, mlp_dim=128)
    images("vit", vit, batches=(2, 5))
    images("vit_bf16", vit, dtype=BF16)
    for version, block in [("swin", swin.SwinTransformerBlock), ("swin_v2", swin.SwinTransformerBlockV2)]:
        patches = swin.PatchMerging if version == "swin" else swin.PatchMergingV2
        images(version, lambda block=block, patches=patches: swin.SwinTransformer(
            [4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10, block=block, downsample_layer=patches), batches=(2, 5))
    images("convnext", lambda: tv.ConvNeXt([convnext.CNBlockConfig(16, 32, 2), convnext.CNBlockConfig(32, None, 2)]), batches=(2, 3))
    images("maxvit", lambda: tv.MaxVit((64, 64), 16, 2, [16, 32], [1, 1], 8, 0.0))
    images("lraspp", lambda: tv.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None), batches=(2, 3))
    images("deeplabv3", lambda: tv.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None))
    images("fcn_any_size", lambda: tv.segmentation.fcn_resnet50(weights=None, weights_backbone=None, num_classes=3))
    images("resnet_fpn", lambda: resnet_fpn_backbone(backbone_name="resnet18", weights=None), batches=(2, 3))
    images("ssdlite_backbone", lambda: tv.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None).backbone, size=96)
    images("retinanet_heads", lambda: Detector(tv.detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=3)))
    model("raft_small", lambda: tv.optical_flow.raft_small(weights=None),
          lambda: [((R(1, 3, 128, 128), R(1, 3, 128, 128)), {"num_flow_updates": 2})])
    model("r3d_18", lambda: tv.video.r3d_18(weights=None), lambda: [((R(1, 3, 4, 32, 32),), {})])
    model("s3d", lambda: tv.video.s3d(weights=None), lambda: [((R(1, 3, 14, 224, 224),), {})])
    images("unet", UNet, size=32, batches=(2, 4))


class Detector(nn.Module):
    """A detector up to its scores and boxes; the selection after them is torchvision's own C++."""

    def __init__(self, m):
        super().__init__()
        self.backbone, self.head = m.backbone, m.head

    def forward(self, x):
        return self.head(list(self.backbone(x).values()))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        block = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(inplace=True),
                                           nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))
        self.down, self.deep, self.bottom = block(3, 8), block(8, 16), block(16, 32)
        self.up1, self.join1 = nn.ConvTranspose2d(32, 16, 2, 2), block(32, 16)
        self.up2, self.join2 = nn.Upsample(scale_factor=2, mode="bilinear"), block(24, 8)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.deep(nn.functional.max_pool2d(a, 2))
        c = self.bottom(nn.functional.avg_pool2d(b, 2))
        d = self.join1(torch.cat([self.up1(c), b], 1))
        return self.out(self.join2(torch.cat([self.up2(d), a], 1))).softmax(1)


def timm_models():
    import timm

    vit = dict(img_size=64, depth=2, embed_dim=64, num_heads=4)
    stages = dict(dims=(16, 24, 32, 40), depths=(1, 1, 1, 1))
    rows = [
        ("vit_tiny_patch16_224", vit), ("deit3_small_patch16_224", vit), ("beit_base_patch16_224", vit),
        ("cait_xxs24_224", vit), ("eva02_tiny_patch14_224", dict(vit, img_size=56)), ("vit_relpos_small_patch16_224", vit),
        ("vit_small_patch16_dinov3", vit), ("samvit_base_patch16", dict(vit, img_size=64, global_attn_indexes=(1,))),
        ("mixer_s32_224", dict(img_size=64)), ("gmlp_ti16_224", dict(img_size=64)),
        ("convnext_atto", stages), ("convnextv2_atto", stages), ("inception_next_atto", {}),
        ("swin_tiny_patch4_window7_224", dict(img_size=64, window_size=4, embed_dim=24, depths=(2, 2), num_heads=(2, 4))),
        ("swinv2_tiny_window8_256", dict(img_size=64, window_size=4, embed_dim=24, depths=(2, 2), num_heads=(2, 4))),
        ("mobilenetv3_small_050", {}), ("mobilenetv4_conv_small_050", {}), ("mobilenetv4_hybrid_medium", {}), ("mobileone_s0", {}),
        ("tf_efficientnet_lite0", {}), ("tf_efficientnetv2_b0", {}), ("ghostnetv2_100", {}), ("repvgg_a0", {}), ("rexnet_100", {}),
        ("resnet26d", {}), ("resnetv2_50d_gn", {}), ("resnest14d", {}), ("seresnext26d_32x4d", {}), ("ecaresnet26t", {}), ("skresnet18", {}),
        ("res2net50_14w_8s", {}), ("regnetx_002", {}), ("hrnet_w18_small", {}), ("dla34", {}), ("vovnet39a", {}), ("cspdarknet53", {}),
        ("dm_nfnet_f0", {}), ("eca_nfnet_l0", {}), ("nasnetalarge", {}), ("xception41", {}), ("hgnet_tiny", {}), ("starnet_s1", {}),
        ("edgenext_xx_small", {}), ("efficientvit_b0", {}), ("efficientvit_m0", dict(img_size=224)), ("fastvit_t8", {}), ("mobilevit_xxs", {}),
        ("mobilevitv2_050", {}), ("levit_128s", dict(img_size=224)), ("poolformer_s12", {}), ("caformer_s18", {}), ("pvt_v2_b0", {}),
        ("twins_svt_small", dict(img_size=224)), ("xcit_nano_12_p16_224", dict(img_size=64)), ("volo_d1_224", dict(img_size=64)),
        ("coat_lite_tiny", dict(img_size=64)), ("coatnet_pico_rw_224", dict(img_size=64)), ("crossvit_tiny_240", {}),
        ("convit_tiny", dict(img_size=64, depth=2)), ("davit_tiny", {}), ("focalnet_tiny_srf", {}), ("gcvit_xxtiny", {}), ("hiera_tiny_224", {}),
        ("mvitv2_tiny", dict(img_size=64)), ("nextvit_small", {}), ("repvit_m0_9", {}), ("sequencer2d_s", {}), ("tiny_vit_5m_224", {}),
        ("visformer_tiny", dict(img_size=64)), ("botnet26t_256", {}), ("halonet26t", {}), ("lambda_resnet26t", dict(img_size=128)),
        ("mambaout_femto", {}), ("efficientformerv2_s0", {}), ("efficientformer_l1", {}), ("nest_tiny", {}), ("pit_ti_224", {}),
        ("swiftformer_xs", {}), ("shvit_s1", {}), ("lcnet_050", {}), ("selecsls42", {}), ("tresnet_m", {}),
    ]
    for name, kw in rows:
        size = kw.get("img_size") or (240 if "240" in name else 256 if "256" in name else 224 if needs_224(name) else 64)
        images("timm_" + name, lambda name=name, kw=kw: timm.create_model(name, pretrained=False, num_classes=10, **kw), size=size, batches=(1,))


def needs_224(name):
    return any(w in name for w in ("224", "davit", "focalnet", "gcvit", "efficientformer", "nest_", "swiftformer", "botnet", "halonet", "sequencer", "crossvit", "coatnet"))


# ---- language


TINY = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=99,
            max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
GROUPED = dict(TINY, num_key_value_heads=2, head_dim=8)


def ids(*shape):
    return torch.randint(3, 99, shape)


def padded(b, n, left=False):
    """A mask whose later rows are shorter."""
    keep = torch.arange(n)[None] < torch.tensor([n - 2 * i for i in range(b)])[:, None]
    return (keep.flip(1) if left else keep).long()


def from_config(head, config, kw, **how):
    import transformers

    return getattr(transformers, head).from_config(getattr(transformers, config)(**kw), **how)


def text(name, head, config, kw, sizes=((2, 8),), mask=False, attention="sdpa", **options):
    """Several sizes make batch and length dynamic."""
    if len(sizes) > 1:
        options["dynamic_shapes"] = {k: {0: AUTO, 1: AUTO} for k in ["input_ids"] + ["attention_mask"] * mask}
    call = lambda b, n: ((), {"input_ids": ids(b, n), **({"attention_mask": padded(b, n, "Causal" in head)} if mask else {})})
    model(name, lambda: from_config(head, config, kw, attn_implementation=attention), lambda: [call(*s) for s in sizes], **options)


def static_cache(name, config, kw, steps=4, dtype=torch.float32):
    """transformers' own way to a static cache in buffers: one token a step."""

    def make():
        import transformers
        from transformers.integrations.executorch import TorchExportableModuleForDecoderOnlyLM

        m = from_config("AutoModelForCausalLM", config, dict(kw, use_cache=True)).to(dtype)
        cache = {"batch_size": 1, "max_cache_len": 16, "device": "cpu"}
        m.generation_config = transformers.GenerationConfig(use_cache=True, cache_implementation="static", cache_config=cache)
        return TorchExportableModuleForDecoderOnlyLM(m, batch_size=1, max_cache_len=16, device="cpu").model.requires_grad_(False)

    step = lambda i: ((), {"input_ids": ids(1, 1), "cache_position": torch.tensor([i])})
    model(name, make, lambda: [step(i) for i in range(steps)], dtype=dtype, sequence=True, strict=True)


def language_models():
    from transformers.integrations.executorch import register_dynamic_cache_export_support

    register_dynamic_cache_export_support()
    causal, encoder = "AutoModelForCausalLM", "AutoModel"
    two = ((2, 8), (3, 11))
    no_cache = dict(GROUPED, use_cache=False)
    gpt2 = dict(n_layer=2, n_head=4, n_embd=32, vocab_size=99, n_positions=64, bos_token_id=1, eos_token_id=2)
    experts = dict(no_cache, num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=32)

    text("bert", encoder, "BertConfig", TINY, sizes=two, mask=True)
    text("bert_eager_attention", encoder, "BertConfig", TINY, mask=True, attention="eager")
    text("bert_bf16", encoder, "BertConfig", TINY, mask=True, dtype=BF16)
    text("roberta", "AutoModelForTokenClassification", "RobertaConfig", TINY, mask=True)
    text("distilbert", encoder, "DistilBertConfig", dict(dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=99), mask=True)
    text("albert", encoder, "AlbertConfig", dict(TINY, embedding_size=16), mask=True)
    text("electra", "AutoModelForMaskedLM", "ElectraConfig", dict(TINY, embedding_size=16), mask=True)
    text("deberta_v2", encoder, "DebertaV2Config", dict(TINY, relative_attention=True, pos_att_type=["p2c", "c2p"]), mask=True, attention="eager")
    text("mpnet", encoder, "MPNetConfig", TINY, mask=True, attention="eager")
    text("modernbert", "AutoModelForMaskedLM", "ModernBertConfig", dict(TINY, local_attention=4), mask=True)
    text("fnet", encoder, "FNetConfig", TINY, attention="eager")
    text("xlnet", encoder, "XLNetConfig", dict(d_model=32, n_layer=2, n_head=4, d_inner=64, vocab_size=99, use_mems_eval=False), attention="eager")

    text("gpt2", causal, "GPT2Config", dict(gpt2, use_cache=False), sizes=two, mask=True)
    text("gpt2_with_cache_out", causal, "GPT2Config", gpt2)
    text("gpt2_bf16", causal, "GPT2Config", dict(gpt2, use_cache=False), dtype=BF16)
    text("gpt_neo", causal, "GPTNeoConfig", dict(TINY, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], use_cache=False), mask=True, attention="eager")
    text("gpt_neox", causal, "GPTNeoXConfig", dict(TINY, use_cache=False), mask=True)
    text("gptj", causal, "GPTJConfig", dict(gpt2, rotary_dim=4, use_cache=False), mask=True, attention="eager")
    text("opt", causal, "OPTConfig", dict(TINY, ffn_dim=64, word_embed_proj_dim=32, use_cache=False), mask=True)
    text("bloom", causal, "BloomConfig", dict(hidden_size=32, n_layer=2, n_head=4, vocab_size=99, use_cache=False), mask=True, attention="eager")
    text("llama", causal, "LlamaConfig", no_cache, sizes=two, mask=True)
    text("llama_bf16", causal, "LlamaConfig", no_cache, sizes=two, dtype=BF16)
    text("llama_eager_attention", causal, "LlamaConfig", no_cache, mask=True, attention="eager")
    text("llama_with_cache_out", causal, "LlamaConfig", GROUPED)
    sliding = dict(no_cache, sliding_window=4)
    text("qwen2", causal, "Qwen2Config", no_cache, sizes=two, mask=True)
    text("qwen3", causal, "Qwen3Config", no_cache, sizes=two, mask=True)
    text("gemma", causal, "GemmaConfig", no_cache, sizes=two, mask=True)
    text("gemma2", causal, "Gemma2Config", sliding, sizes=two, mask=True, attention="eager")
    text("gemma3", causal, "Gemma3TextConfig", sliding, sizes=two, mask=True)
    text("phi", causal, "PhiConfig", no_cache, sizes=two, mask=True)
    text("phi3", causal, "Phi3Config", no_cache, sizes=two, mask=True)
    text("mistral", causal, "MistralConfig", sliding, sizes=two, mask=True)
    for name, config in [("olmo2", "Olmo2Config"), ("stablelm", "StableLmConfig"), ("cohere", "CohereConfig"), ("starcoder2", "Starcoder2Config"),
                         ("granite", "GraniteConfig"), ("glm", "GlmConfig"), ("smollm3", "SmolLM3Config"), ("falcon", "FalconConfig"),
                         ("nemotron", "NemotronConfig"), ("helium", "HeliumConfig"), ("exaone4", "Exaone4Config"), ("ernie4_5", "Ernie4_5Config")]:
        text(name, causal, config, dict(TINY, use_cache=False) if name == "falcon" else sliding if name == "exaone4" else no_cache, mask=True)
    text("qwen2_bf16", causal, "Qwen2Config", no_cache, mask=True, dtype=BF16)
    text("qwen3_moe", causal, "Qwen3MoeConfig", experts)
    text("mixtral", causal, "MixtralConfig", experts)
    text("gpt_oss", causal, "GptOssConfig", dict(experts, sliding_window=4), attention="eager")
    text("mamba", causal, "MambaConfig", dict(hidden_size=32, num_hidden_layers=2, state_size=4, vocab_size=99, use_cache=False), attention="eager")
    text("mamba2", causal, "Mamba2Config", dict(hidden_size=32, num_hidden_layers=2, state_size=4, vocab_size=99, head_dim=8, num_heads=8, n_groups=1, chunk_size=4, use_cache=False), attention="eager")
    text("recurrent_gemma", causal, "RecurrentGemmaConfig", dict(TINY, num_hidden_layers=3, num_key_value_heads=1, lru_width=32, use_cache=False))
    text("lfm2", causal, "Lfm2Config", dict(no_cache, layer_types=["conv", "full_attention"]))
    text("rwkv", causal, "RwkvConfig", dict(hidden_size=32, num_hidden_layers=2, vocab_size=99, attention_hidden_size=32, use_cache=False), attention="eager")

    for name, config in [("llama", "LlamaConfig"), ("qwen2", "Qwen2Config"), ("qwen3", "Qwen3Config"), ("gemma", "GemmaConfig"),
                         ("gemma3", "Gemma3TextConfig"), ("phi", "PhiConfig"), ("phi3", "Phi3Config")]:
        static_cache(name + "_static", config, dict(GROUPED, sliding_window=4) if name == "gemma3" else GROUPED)
    static_cache("llama_static_bf16", "LlamaConfig", GROUPED, dtype=BF16)

    t5 = dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0, use_cache=False)
    bart = dict(vocab_size=99, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64, use_cache=False)
    pair = lambda b, n, m: ((), {"input_ids": ids(b, n), "attention_mask": padded(b, n), "decoder_input_ids": ids(b, m)})
    dynamic = {k: {0: AUTO, 1: AUTO} for k in ("input_ids", "attention_mask", "decoder_input_ids")}
    pairs = lambda: [pair(2, 9, 5), pair(3, 7, 6)]
    seq2seq = "AutoModelForSeq2SeqLM"
    model("t5", lambda: from_config(seq2seq, "T5Config", t5), pairs, dynamic_shapes=dynamic)
    model("t5_gated_bf16", lambda: from_config(seq2seq, "T5Config", dict(t5, feed_forward_proj="gated-gelu")), pairs, dtype=BF16, dynamic_shapes=dynamic)
    model("bart", lambda: from_config(seq2seq, "BartConfig", bart), pairs, dynamic_shapes=dynamic)
    text("t5_encoder", "AutoModelForTextEncoding", "T5Config", t5, sizes=two, mask=True)


# ---- audio, and models of more than one kind


class Crepe(nn.Module):
    """A pitch estimator's shape: normalized frames, padded one-dimensional convolutions, pooling, 360 bins."""

    def __init__(self):
        super().__init__()
        widths = [1, 32, 8, 8, 8, 16]
        self.convs = nn.ModuleList(nn.Conv2d(i, o, (k, 1), (s, 1)) for i, o, k, s in
                                   zip(widths, widths[1:], [512, 64, 64, 64, 64], [4, 1, 1, 1, 1]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(o, eps=0.001) for o in widths[1:])
        self.classifier = nn.Linear(16 * 8, 360)

    def forward(self, frames):
        x = frames - frames.mean(1, keepdim=True)
        x = (x / x.std(1, keepdim=True).clamp(min=1e-10))[:, None, :, None]
        for conv, norm in zip(self.convs, self.norms):
            pad = (254, 254) if conv.stride[0] == 4 else (31, 32)
            x = nn.functional.max_pool2d(norm(nn.functional.relu(conv(nn.functional.pad(x, (0, 0, *pad))))), (2, 1), (2, 1))
        return torch.sigmoid(self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 16 * 8)))


def audio_models():
    model("crepe", Crepe, lambda: [((R(2, 1024),), {}), ((R(7, 1024),), {})], dynamic_shapes=({0: AUTO},))
    whisper = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                   encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=16, max_source_positions=50, max_target_positions=40,
                   vocab_size=99, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, use_cache=False)
    whole = lambda: from_config("AutoModelForSpeechSeq2Seq", "WhisperConfig", whisper)
    model("whisper_encoder", lambda: whole().model.encoder, lambda: [((R(2, 16, 100),), {}), ((R(3, 16, 100),), {})], dynamic_shapes={"input_features": {0: AUTO}})
    decode = lambda b, n: ((), {"input_ids": ids(b, n), "encoder_hidden_states": R(b, 50, 32)})
    model("whisper_decoder", lambda: whole().model.decoder, lambda: [decode(2, 5), decode(3, 7)],
          dynamic_shapes={"input_ids": {0: AUTO, 1: AUTO}, "encoder_hidden_states": {0: AUTO}})
    model("whisper", whole, lambda: [((), {"input_features": R(1, 16, 100), "decoder_input_ids": ids(1, 5)})])
    model("whisper_bf16", whole, lambda: [((), {"input_features": R(1, 16, 100), "decoder_input_ids": ids(1, 5)})], dtype=BF16)

    conv = dict(TINY, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 2), num_feat_extract_layers=3,
                num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2)
    for name, config in [("wav2vec2", "Wav2Vec2Config"), ("hubert", "HubertConfig"), ("wavlm", "WavLMConfig"), ("data2vec_audio", "Data2VecAudioConfig")]:
        model(name, lambda config=config: from_config("AutoModel", config, conv), lambda: [((R(2, 800),), {}), ((R(2, 1200),), {})],
              dynamic_shapes={"input_values": {1: AUTO}})
    model("wav2vec2_ctc_stable", lambda: from_config("AutoModelForCTC", "Wav2Vec2Config", dict(conv, feat_extract_norm="layer", do_stable_layer_norm=True)),
          lambda: [((R(2, 800),), {})])
    model("ast", lambda: from_config("AutoModelForAudioClassification", "ASTConfig", dict(TINY, max_length=64, num_mel_bins=32)), lambda: [((R(2, 64, 32),), {})])
    model("encodec", lambda: from_config("AutoModel", "EncodecConfig", dict(num_filters=4, hidden_size=16, codebook_dim=16, codebook_size=32, upsampling_ratios=[4, 2])),
          lambda: [((R(1, 1, 640),), {})])
    model("spectrogram_net", SpectrogramNet, lambda: [((R(2, 1600),), {})])


class SpectrogramNet(nn.Module):
    """A log spectrogram and a recurrent network over its frames."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(128))
        self.rnn, self.out = nn.GRU(65, 24, 2, batch_first=True, bidirectional=True), nn.Linear(48, 5)

    def forward(self, x):
        s = torch.stft(x, 128, 64, window=self.window, return_complex=True).abs().pow(2)
        return self.out(self.rnn(s.add(1e-6).log().transpose(1, 2))[0]).log_softmax(-1)


def other_models():
    vision = dict(TINY, image_size=32, patch_size=8)
    pixels = lambda b=1, n=32: ((), {"pixel_values": R(b, 3, n, n)})
    model("hf_vit", lambda: from_config("AutoModel", "ViTConfig", vision), lambda: [pixels(2), pixels(3)], dynamic_shapes={"pixel_values": {0: AUTO}})
    model("dinov2", lambda: from_config("AutoModel", "Dinov2Config", vision), lambda: [pixels()])
    model("segformer", lambda: from_config("AutoModelForSemanticSegmentation", "SegformerConfig", dict(
        depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], decoder_hidden_size=32), attn_implementation="eager"), lambda: [pixels(1, 64)])
    model("siglip_vision", lambda: from_config("AutoModel", "SiglipVisionConfig", vision), lambda: [pixels()])
    text_part = dict(TINY, projection_dim=16)
    clip = dict(text_config=text_part, vision_config=dict(vision, projection_dim=16), projection_dim=16)
    model("clip", lambda: from_config("AutoModel", "CLIPConfig", clip), lambda: [
        ((), {"input_ids": ids(2, 6), "pixel_values": R(3, 3, 32, 32), "attention_mask": padded(2, 6)})])
    model("detr", lambda: from_config("AutoModelForObjectDetection", "DetrConfig", dict(
        backbone_config={"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "out_features": ["stage2"], "layer_type": "basic"},
        use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_queries=7)), lambda: [pixels(1, 64)])
    model("vitdet_backbone", lambda: from_config("AutoBackbone", "VitDetConfig", dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
          image_size=64, patch_size=8, window_size=4, window_block_indices=[0], residual_block_indices=[1], use_relative_position_embeddings=True)), lambda: [pixels(1, 64)])
    model("timesformer", lambda: from_config("AutoModel", "TimesformerConfig", dict(vision, num_frames=2)), lambda: [((), {"pixel_values": R(1, 2, 3, 32, 32)})])
    model("patchtst", lambda: from_config("AutoModel", "PatchTSTConfig", dict(num_input_channels=3, context_length=32, patch_length=8, patch_stride=8, d_model=32,
          num_hidden_layers=2, num_attention_heads=4, ffn_dim=64)), lambda: [((), {"past_values": R(2, 32, 3)})])
    model("decision_transformer", lambda: from_config("AutoModel", "DecisionTransformerConfig", dict(state_dim=5, act_dim=3, hidden_size=32, n_layer=2, n_head=4, max_ep_len=32)),
          lambda: [((), {"states": R(1, 4, 5), "actions": R(1, 4, 3), "rewards": R(1, 4, 1), "returns_to_go": R(1, 4, 1),
                         "timesteps": torch.arange(4)[None], "attention_mask": torch.ones(1, 4)})])


def register():
    """Models by group."""
    groups = {}
    for group in (torchvision_models, timm_models, language_models, audio_models, other_models):
        before = set(MODELS)
        group()
        groups[group.__name__.removesuffix("_models")] = [m for m in MODELS if m not in before]
    return groups


def main(out, names):
    if out.startswith("-"):
        sys.exit("usage: export_models.py OUT [GROUP or MODEL...]")
    warnings.filterwarnings("ignore")
    os.makedirs(out, exist_ok=True)
    groups = register()
    for name in [m for n in names or groups for m in groups.get(n, [n])]:
        try:
            print("ok  ", name, MODELS[name](out) or "", flush=True)
        except Exception as e:
            print("FAIL", name, type(e).__name__, " ".join(str(e).split())[:300], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
