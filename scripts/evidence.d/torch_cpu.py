"""Trains a PyTorch model on the CPU for some seconds.

    python torch_cpu.py MODEL MODE THREADS SECONDS

MODEL: llm-tiny, dlrm-tiny, gpt2 (sequences of 64). MODE: eager or compiled. Trains on random data that were made
before the clock runs, which spares PyTorch what reading costs the others; prints {"items_per_second": [...], "loss": ...},
one rate for each window of about half a second.
"""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
import torch
from torch import nn
from torch_models import Decoder, Dlrm

BATCHES = 16  # of random data, used in turn
LLM_TINY = dict(layers=2, width=64, hidden=256, heads=4, kv=4, sequence=64, vocabulary=64, gpt2=False, shifted=2, theta=1e3, tied=False)
GPT2 = dict(layers=12, width=768, hidden=3072, heads=12, kv=12, sequence=64, vocabulary=50257, gpt2=True)


def decoder(shape, sequences, rate, betas):
    model = Decoder(shape, rms_norm=lambda width: nn.RMSNorm(width, eps=1e-5))
    if shape.get("tied", True):  # a table of deviation 1 as head begins with losses in the hundreds
        nn.init.normal_(model.table.weight, std=0.02)
    made = [torch.randint(shape["vocabulary"], (sequences, shape["sequence"] + 1)) for _ in range(BATCHES)]
    data = [(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()) for tokens in made]
    return model, data, sequences * shape["sequence"], [torch.optim.AdamW(model.parameters(), rate, betas, fused=True)], 1.0


def dlrm_tiny(batch=1024):
    rows = [1000, 400, 200, 100, 50, 25, 10, 5, 4, 4, 4, 4]
    model = Dlrm(rows)
    data = [(torch.randn(batch, 13), torch.stack([torch.randint(n, (batch,)) for n in rows], dim=1),
             torch.randint(2, (batch,)).float()) for _ in range(BATCHES)]
    dense = [p for name, p in model.named_parameters() if not name.startswith("tables")]
    return model, data, batch, [torch.optim.AdamW(dense, 2e-3, (0.9, 0.99), fused=True),
                                torch.optim.Adagrad(model.tables.parameters(), 5e-2)], 0.0


MODELS = {"llm-tiny": lambda: decoder(LLM_TINY, 32, 4e-3, (0.9, 0.98)), "gpt2": lambda: decoder(GPT2, 8, 1e-3, (0.9, 0.95)),
          "dlrm-tiny": dlrm_tiny}


def main():
    name, mode, threads, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model, data, items, optimizers, clip = MODELS[name]()
    forward = torch.compile(model) if mode == "compiled" else model

    def step(number):
        loss = forward(*data[number % BATCHES])
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        for optimizer in optimizers:
            optimizer.step()
        return loss

    for number in range(3):  # compiles, and warms up
        step(number)
    rates, number, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        began, steps = time.monotonic(), 0
        while steps == 0 or time.monotonic() - began < 0.5:
            loss = step(number)
            number, steps = number + 1, steps + 1
        rates.append(items * steps / (time.monotonic() - began))
    print(json.dumps({"items_per_second": rates, "loss": loss.item()}))


if __name__ == "__main__":
    main()
