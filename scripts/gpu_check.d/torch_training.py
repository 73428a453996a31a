"""GPT-2 124M and Llama-3.2-1B's shape trained by PyTorch on GPU 0 with torch.compile; one JSON list. Exit code 77: no PyTorch,
or no GPU for it. The same shapes, batches and made-up tokens as tests/gpu/training_timing.cpp: f32 weights under bf16 autocast,
scaled_dot_product_attention, fused AdamW, gradients clipped at 1."""

import json
import math
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available():
    sys.exit(77)

WARM_UPS, STEPS = 5, 20
SHAPES = {
    "gpt2": dict(layers=12, width=768, hidden=3072, heads=12, kv=12, sequence=1024, vocabulary=50304, gpt2=True, batch=64),
    "llama_1b": dict(layers=16, width=2048, hidden=8192, heads=32, kv=8, sequence=4096, vocabulary=128256, gpt2=False, batch=4),
}


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.gain


def rotated(x, cosine, sine):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.heads, self.kv, self.dim, self.gpt2 = s["heads"], s["kv"], s["width"] // s["heads"], s["gpt2"]
        norm = nn.LayerNorm if self.gpt2 else RmsNorm
        self.norm1, self.norm2 = norm(s["width"]), norm(s["width"])
        packed = (self.heads + 2 * self.kv) * self.dim
        self.qkv = nn.Linear(s["width"], packed, bias=self.gpt2)
        self.out = nn.Linear(s["width"], s["width"], bias=self.gpt2)
        self.up = nn.Linear(s["width"], s["hidden"] * (1 if self.gpt2 else 2), bias=self.gpt2)
        self.down = nn.Linear(s["hidden"], s["width"], bias=self.gpt2)

    def forward(self, x, cosine, sine):
        b, t, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).split([self.heads * self.dim, self.kv * self.dim, self.kv * self.dim], dim=-1)
        q = q.view(b, t, self.heads, self.dim).transpose(1, 2)
        k = k.view(b, t, self.kv, self.dim).transpose(1, 2)
        v = v.view(b, t, self.kv, self.dim).transpose(1, 2)
        if not self.gpt2:
            q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        if self.kv != self.heads:
            k, v = (y.repeat_interleave(self.heads // self.kv, dim=1) for y in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, -1)
        x = x + self.out(a)
        h = self.up(self.norm2(x))
        if self.gpt2:
            h = F.gelu(h, approximate="tanh")
        else:
            gate, up = h.chunk(2, dim=-1)
            h = F.silu(gate) * up
        return x + self.down(h)


class Model(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.gpt2 = s["gpt2"]
        self.table = nn.Embedding(s["vocabulary"], s["width"])
        self.positions = nn.Embedding(s["sequence"], s["width"]) if self.gpt2 else None
        self.blocks = nn.ModuleList(Block(s) for _ in range(s["layers"]))
        self.norm = (nn.LayerNorm if self.gpt2 else RmsNorm)(s["width"])
        half = s["width"] // s["heads"] // 2
        angles = torch.outer(torch.arange(s["sequence"]).float(), 5e5 ** (-torch.arange(half).float() / half))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens, targets):
        x = self.table(tokens)
        if self.gpt2:
            x = x + self.positions.weight
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        logits = F.linear(self.norm(x), self.table.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def measured(name, s):
    row = {"model": name, "batch": s["batch"], "sequence": s["sequence"]}
    try:
        model = Model(s).cuda()
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
        row["seconds"] = seconds
        row["tokens_per_second"] = s["batch"] * s["sequence"] / statistics.median(seconds)
    except (RuntimeError, torch.cuda.OutOfMemoryError) as error:
        row["skipped"] = str(error).splitlines()[0]
    torch.cuda.empty_cache()
    return row


torch.set_float32_matmul_precision("high")
print(json.dumps([measured(name, shape) for name, shape in SHAPES.items()]))
