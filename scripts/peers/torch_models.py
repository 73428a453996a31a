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


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        def layer(into, out, kernel, stride):
            return nn.Sequential(nn.Conv2d(into, out, kernel, stride, kernel // 2, bias=False), nn.GroupNorm(32, out))
        self.narrow, self.middle, self.wide = layer(channels, width, 1, 1), layer(width, width, 3, stride), layer(width, 4 * width, 1, 1)
        self.direct = None if stride == 1 and channels == 4 * width else layer(channels, 4 * width, 1, stride)

    def forward(self, x):
        y = self.wide(F.relu(self.middle(F.relu(self.narrow(x)))))
        return F.relu(y + (x if self.direct is None else self.direct(x)))


class ResNet50(nn.Module):
    """ResNet-50 v1.5 with group norms, of images [n, 3, 224, 224]."""

    def __init__(self, classes=1000):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.GroupNorm(32, 64)
        blocks, channels = [], 64
        for number, (count, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
            for block in range(count):
                blocks.append(Bottleneck(channels, width, 2 if block == 0 and number > 0 else 1))
                channels = 4 * width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(channels, classes)

    def forward(self, images):
        x = F.max_pool2d(F.relu(self.norm(self.stem(images))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


def attended(packed, heads):
    """Of queries, keys and values side by side, [n, tokens, 3 x width]."""
    n, tokens, columns = packed.shape
    q, k, v = packed.view(n, tokens, 3, heads, columns // 3 // heads).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, tokens, columns // 3)


class VisionBlock(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x):
        x = x + self.out(attended(self.qkv(self.norm1(x)), self.heads))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class VisionTransformer(nn.Module):
    """ViT-B/16 with the mean of all patches for the head, of images [n, 3, 224, 224]."""

    def __init__(self, layers=12, width=768, heads=12, hidden=3072, patch=16, side=224, classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(3, width, patch, patch)
        self.positions = nn.Parameter(torch.randn((side // patch) ** 2, width))
        self.blocks = nn.Sequential(*(VisionBlock(width, heads, hidden) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.norm(self.blocks(x)).mean(1))


class FlowStream(nn.Module):
    """The weights of words or patches in a double block, or of both in a single one, which does attention and feed-forward at once."""

    def __init__(self, s, single):
        super().__init__()
        width, hidden = s["width"], s["hidden"]
        self.single, self.norm1, self.shift1 = single, nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.qkv, self.out, self.gate1 = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=not single), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        if not single:
            self.norm2, self.shift2, self.gate2 = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(width, width)

    @staticmethod
    def normed(x, norm, by, time):
        shift, scale = by(time).unsqueeze(1).chunk(2, dim=-1)
        return norm(x) * (1 + scale) + shift

    def before(self, x, time):
        h = self.normed(x, self.norm1, self.shift1, time)
        return h, self.qkv(h)

    def after(self, x, h, attention, time):
        made = self.out(attention)
        if self.single:
            return x + self.gate1(time).unsqueeze(1) * (made + self.down(F.gelu(self.up(h), approximate="tanh")))
        x = x + self.gate1(time).unsqueeze(1) * made
        h = self.normed(x, self.norm2, self.shift2, time)
        return x + self.gate2(time).unsqueeze(1) * self.down(F.gelu(self.up(h), approximate="tanh"))


class FlowTransformer(nn.Module):
    """A diffusion transformer of two streams; a shape says double, single, width, heads, hidden, words, vocabulary, patches, columns, times."""

    def __init__(self, s):
        super().__init__()
        self.heads, self.words = s["heads"], s["words"]
        self.time1, self.time2 = nn.Linear(s["times"], s["width"]), nn.Linear(s["width"], s["width"])
        self.table, self.patch = nn.Embedding(s["vocabulary"], s["width"]), nn.Linear(s["columns"], s["width"])
        self.positions = nn.Parameter(torch.randn(s["patches"], s["width"]))
        self.doubles = nn.ModuleList(nn.ModuleList(FlowStream(s, False) for _ in range(2)) for _ in range(s["double"]))
        self.singles = nn.ModuleList(FlowStream(s, True) for _ in range(s["single"]))
        self.norm, self.shift, self.head = nn.LayerNorm(s["width"]), nn.Linear(s["width"], 2 * s["width"]), nn.Linear(s["width"], s["columns"])
        half = s["width"] // s["heads"] // 2  # one angle for words and patches: their places do not change the time
        angles = torch.outer(torch.arange(s["words"] + s["patches"]).float(), 1e4 ** (-torch.arange(half).float() / half))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def joined(self, packed):
        n, tokens, columns = packed.shape
        q, k, v = packed.view(n, tokens, 3, self.heads, columns // 3 // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(rotated(q, self.cosine, self.sine), rotated(k, self.cosine, self.sine), v)
        return a.transpose(1, 2).reshape(n, tokens, columns // 3)

    def forward(self, words, patches, times):
        time = F.gelu(self.time2(F.gelu(self.time1(times), approximate="tanh")), approximate="tanh")
        streams = [self.table(words), self.patch(patches) + self.positions]
        for block in self.doubles:
            parts = [of.before(x, time) for of, x in zip(block, streams)]
            a = self.joined(torch.cat([packed for _, packed in parts], dim=1)).split([self.words, streams[1].shape[1]], dim=1)
            streams = [of.after(x, h, own, time) for of, x, (h, _), own in zip(block, streams, parts, a)]
        x = torch.cat(streams, dim=1)
        for of in self.singles:
            h, packed = of.before(x, time)
            x = of.after(x, h, self.joined(packed), time)
        return self.head(FlowStream.normed(x[:, self.words:], self.norm, self.shift, time))
