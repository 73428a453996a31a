"""Train GPT-2 124M and the shape of Llama-3.2-1B in PyTorch on GPU 0, compiled; prints one JSON list. Exit code 77: no PyTorch, or no GPU for
it. With --seconds S it begins no training that may not end by then.

The same shapes, batches and made-up tokens as tests/gpu/training_timing.cpp: fused AdamW, gradients clipped at 1, attention by cuDNN or
flash with grouped keys. Each model is trained twice: with weights, gradients and the optimizer's state in bf16, the fastest that PyTorch
does; and, as is usual, with f32 weights that autocast rounds to bf16 in each step. benchctl's weights and gradients are bf16, with f32
masters of the weights and an f32 state in the optimizer: between the two.
"""

import argparse
import contextlib
import gc
import json
import math
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
try:
    import torch
    from torch import nn
    from torch_models import Decoder
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available():
    sys.exit(77)

WARM_UPS, STEPS = 5, 20
LONGEST_S = 90.0  # of a training, most of it to compile
SHAPES = {
    "gpt2": dict(layers=12, width=768, hidden=3072, heads=12, kv=12, sequence=1024, vocabulary=50304, gpt2=True, batch=64),
    "llama_1b": dict(layers=16, width=2048, hidden=8192, heads=32, kv=8, sequence=4096, vocabulary=128256, gpt2=False, grouped=True, batch=4),
}
WEIGHTS = {"bf16": "weights and optimizer bf16", "f32": "weights f32 under bf16 autocast"}


def best_attention():
    """cuDNN's attention first, then flash, where this PyTorch can be told so."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        order = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
        return sdpa_kernel(order, set_priority=True)
    except (ImportError, AttributeError, TypeError):
        return contextlib.nullcontext()


def model_of(s, weights):
    model = Decoder(s).cuda()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.5 / math.sqrt(s["width"]))
    return model.to(torch.bfloat16) if weights == "bf16" else model


def train(s, weights):
    """(seconds of each step, seconds of the first, in which it is compiled)."""
    model = model_of(s, weights)
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    rounding = contextlib.nullcontext() if weights == "bf16" else torch.autocast("cuda", dtype=torch.bfloat16)
    seconds = []
    for _ in range(WARM_UPS + STEPS):
        tokens = torch.randint(s["vocabulary"], (s["batch"], s["sequence"]), device="cuda")
        targets = torch.randint(s["vocabulary"], (s["batch"], s["sequence"]), device="cuda")
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with rounding:
            loss = compiled(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return seconds[WARM_UPS:], seconds[0]


def measured(name, s, weights, left=math.inf):
    """Keep the other results if torch.compile fails, which it does without a C compiler or Python.h."""
    row = {"model": name, "batch": s["batch"], "sequence": s["sequence"], "weights": WEIGHTS[weights]}
    if left < LONGEST_S:
        return {**row, "skipped": "it had no time"}
    try:
        with best_attention():
            row["seconds"], row["first_step_s"] = train(s, weights)
        row["tokens_per_second"] = s["batch"] * s["sequence"] / statistics.median(row["seconds"])
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        row["skipped"] = f"{type(error).__name__}: {first_line}"
    gc.collect()
    torch.cuda.empty_cache()
    torch._dynamo.reset()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=math.inf)
    end = time.monotonic() + parser.parse_args().seconds
    torch.set_float32_matmul_precision("high")
    print(json.dumps([measured(name, shape, weights, end - time.monotonic()) for weights in WEIGHTS for name, shape in SHAPES.items()]))


if __name__ == "__main__":
    main()
