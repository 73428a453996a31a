"""The models of src/training/models in PyTorch: the same shapes and the same math, for comparison with ours."""

import torch
from torch import nn
from torch.nn import functional as F


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
    def __init__(self, s, rms_norm):
        super().__init__()
        self.heads, self.kv, self.dim, self.gpt2 = s["heads"], s["kv"], s["width"] // s["heads"], s["gpt2"]
        self.grouped = s.get("grouped", False)  # attention takes fewer key heads than query heads
        self.shifted = s.get("shifted", 0)  # so many of the first heads see the key of the position before
        norm = nn.LayerNorm if self.gpt2 else rms_norm
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
        if self.shifted:
            k = torch.cat((F.pad(k[:, :self.shifted, :-1], (0, 0, 1, 0)), k[:, self.shifted:]), dim=1)
        grouped = {"enable_gqa": True} if self.grouped and self.kv != self.heads else {}
        if self.kv != self.heads and not grouped:
            k, v = (y.repeat_interleave(self.heads // self.kv, dim=1) for y in (k, v))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, **grouped).transpose(1, 2).reshape(b, t, -1)
        x = x + self.out(a)
        h = self.up(self.norm2(x))
        if self.gpt2:
            h = F.gelu(h, approximate="tanh")
        else:
            gate, up = h.chunk(2, dim=-1)
            h = F.silu(gate) * up
        return x + self.down(h)


class Decoder(nn.Module):
    """A shape says layers, width, hidden, heads, kv, sequence, vocabulary, gpt2, and may say shifted, grouped, theta, tied (False)."""

    def __init__(self, s, rms_norm=RmsNorm):
        super().__init__()
        self.gpt2 = s["gpt2"]
        self.table = nn.Embedding(s["vocabulary"], s["width"])
        self.positions = nn.Embedding(s["sequence"], s["width"]) if self.gpt2 else None
        self.blocks = nn.ModuleList(Block(s, rms_norm) for _ in range(s["layers"]))
        self.norm = (nn.LayerNorm if self.gpt2 else rms_norm)(s["width"])
        self.head = self.table if s.get("tied", True) else nn.Linear(s["width"], s["vocabulary"], bias=False)
        half = s["width"] // s["heads"] // 2
        angles = torch.outer(torch.arange(s["sequence"]).float(), s.get("theta", 5e5) ** (-torch.arange(half).float() / half))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens, targets):
        x = self.table(tokens)
        if self.gpt2:
            x = x + self.positions.weight
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        logits = F.linear(self.norm(x), self.head.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


class Dlrm(nn.Module):
    """The click model with products of pairs; one row of each table a sample."""

    def __init__(self, rows, width=16, dense=13, bottom=(64,), top=(64, 32)):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(n, width, sparse=True) for n in rows)
        self.bottom = self.layers((dense, *bottom, width))
        features = len(rows) + 1
        self.top = self.layers((width + features * (features - 1) // 2, *top))
        self.head = nn.Linear(top[-1], 1)
        pairs = torch.tril_indices(features, features, -1)
        self.register_buffer("pairs", pairs[0] * features + pairs[1])

    @staticmethod
    def layers(widths):
        parts = []
        for before, after in zip(widths, widths[1:]):
            parts += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*parts)

    def forward(self, dense, ids, labels):
        first = self.bottom(dense)
        features = torch.stack([first] + [table(ids[:, i]) for i, table in enumerate(self.tables)], dim=1)
        products = torch.bmm(features, features.transpose(1, 2)).flatten(1)[:, self.pairs]
        logits = self.head(self.top(torch.cat((first, products), dim=1))).squeeze(1)
        return F.binary_cross_entropy_with_logits(logits, labels)
