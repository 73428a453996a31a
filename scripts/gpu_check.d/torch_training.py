"""Train GPT-2 124M and the shape of Llama-3.2-1B in PyTorch on GPU 0 with torch.compile; prints one JSON list. Exit code 77: no PyTorch,
or no GPU for it. The same shapes, batches and made-up tokens as tests/gpu/training_timing.cpp: scaled_dot_product_attention, fused AdamW,
gradients clipped at 1. Not the same: weights and gradients are f32 here and rounded by autocast in each step, as is usual in PyTorch;
benchctl's are bf16, with f32 masters of the weights in the optimizer."""

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
WEIGHTS = "f32 under bf16 autocast; benchctl's are bf16 with f32 masters"
SHAPES = {
    "gpt2": dict(layers=12, width=768, hidden=3072, heads=12, kv=12, sequence=1024, vocabulary=50304, gpt2=True, batch=64),
    "llama_1b": dict(layers=16, width=2048, hidden=8192, heads=32, kv=8, sequence=4096, vocabulary=128256, gpt2=False, batch=4),
}


def step_seconds(s):
    model = Decoder(s).cuda()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.5 / math.sqrt(s["width"]))
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    seconds = []
    for step in range(WARM_UPS + STEPS):
        tokens = torch.randint(s["vocabulary"], (s["batch"], s["sequence"]), device="cuda")
        targets = torch.randint(s["vocabulary"], (s["batch"], s["sequence"]), device="cuda")
        torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = compiled(tokens, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
        torch.cuda.synchronize()
        if step >= WARM_UPS:
            seconds.append(time.perf_counter() - begin)
    return seconds


def measured(name, s):
    """Keep the other model's result if torch.compile fails, which it does without a C compiler or Python.h."""
    row = {"model": name, "batch": s["batch"], "sequence": s["sequence"], "weights": WEIGHTS}
    try:
        row["seconds"] = step_seconds(s)
        row["tokens_per_second"] = s["batch"] * s["sequence"] / statistics.median(row["seconds"])
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        row["skipped"] = f"{type(error).__name__}: {first_line}"
    gc.collect()
    torch.cuda.empty_cache()
    return row


torch.set_float32_matmul_precision("high")
print(json.dumps([measured(name, shape) for name, shape in SHAPES.items()]))
