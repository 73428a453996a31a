"""Writes a model of the shape of preset small with random weights for llama.cpp: gguf_model.py f32|bf16|int8|int4 FILE"""

import sys

import gguf
import numpy
from gguf import GGMLQuantizationType, quants

TYPES = {"f32": (GGMLQuantizationType.F32, 0), "bf16": (GGMLQuantizationType.BF16, 32),
         "int8": (GGMLQuantizationType.Q8_0, 7), "int4": (GGMLQuantizationType.Q4_0, 2)}
LAYERS, WIDTH, HIDDEN, HEADS, KV_HEADS, SEQUENCE, VOCABULARY = 12, 768, 2048, 12, 4, 1024, 32768


def main():
    kind, path = sys.argv[1:]
    weights, file_type = TYPES[kind]
    random = numpy.random.default_rng(1)
    out = gguf.GGUFWriter(path, "llama")
    out.add_block_count(LAYERS)
    out.add_context_length(SEQUENCE)
    out.add_embedding_length(WIDTH)
    out.add_feed_forward_length(HIDDEN)
    out.add_head_count(HEADS)
    out.add_head_count_kv(KV_HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_freq_base(1e4)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(VOCABULARY)
    out.add_tokenizer_model("no_vocab")
    out.add_file_type(file_type)

    def matrix(name, rows, columns):
        values = random.standard_normal((rows, columns), dtype=numpy.float32) / numpy.float32(columns ** 0.5)
        if kind == "f32":
            out.add_tensor(name, values)
        else:
            out.add_tensor(name, quants.quantize(values, weights), raw_dtype=weights)

    def gain(name):
        out.add_tensor(name, numpy.ones(WIDTH, dtype=numpy.float32))

    kv_width = KV_HEADS * WIDTH // HEADS
    matrix("token_embd.weight", VOCABULARY, WIDTH)
    gain("output_norm.weight")
    matrix("output.weight", VOCABULARY, WIDTH)
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        gain(at + "attn_norm.weight")
        gain(at + "ffn_norm.weight")
        matrix(at + "attn_q.weight", WIDTH, WIDTH)
        matrix(at + "attn_k.weight", kv_width, WIDTH)
        matrix(at + "attn_v.weight", kv_width, WIDTH)
        matrix(at + "attn_output.weight", WIDTH, WIDTH)
        matrix(at + "ffn_gate.weight", HIDDEN, WIDTH)
        matrix(at + "ffn_up.weight", HIDDEN, WIDTH)
        matrix(at + "ffn_down.weight", WIDTH, HIDDEN)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


main()
