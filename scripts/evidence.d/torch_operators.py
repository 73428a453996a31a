"""Times single operators of PyTorch on the CPU, of the shapes of our probe `operators`.

    python torch_operators.py THREADS SECONDS

Prints {"linear_qkv": {"forward": {"eager": seconds, "compiled": seconds}, "backward": {...}}, ...}: medians, each measured for
SECONDS. A backward pass computes all gradients from one of the output; cross_entropy is forward and backward together.
"""

import json
import statistics
import sys
import time

import torch
from torch.nn import functional as F

TOKENS, SEQUENCE, CHANNELS, HEAD, HIDDEN, VOCABULARY = 1024, 512, 768, 64, 3072, 8192
IMAGES, SIDE, MAPS, TABLE_ROWS, LOOKUPS, TABLES, COLUMNS = 4, 28, 128, 262144, 20, 26, 64
HEADS = CHANNELS // HEAD


def rope(x, cosines, sines):
    packed = x.view(-1, SEQUENCE, 3, HEADS, 2, HEAD // 2)
    turned, values = packed[:, :, :2], packed[:, :, 2:]
    a, b = turned[..., 0, :], turned[..., 1, :]
    turned = torch.stack([a * cosines - b * sines, a * sines + b * cosines], dim=-2)
    return torch.cat([turned, values], dim=2).view(x.shape)


def attention(packed):
    q, k, v = packed.view(-1, SEQUENCE, 3, HEADS, HEAD).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(TOKENS, CHANNELS)


def interaction(first, rest):
    features = torch.cat([first.unsqueeze(1), rest.view(-1, TABLES, COLUMNS)], dim=1)
    below = torch.tril_indices(TABLES + 1, TABLES + 1, -1)
    return torch.cat([first, torch.bmm(features, features.transpose(1, 2))[:, below[0], below[1]]], dim=1)


def leaf(*shape):
    return torch.randn(*shape).requires_grad_()


def image():
    return torch.randn(IMAGES, MAPS, SIDE, SIDE).to(memory_format=torch.channels_last).requires_grad_()


def kernel(size):
    return torch.randn(MAPS, MAPS, size, size).to(memory_format=torch.channels_last).requires_grad_()


def linear(inputs, outputs, residual=False):
    weight = leaf(inputs, outputs)
    if residual:
        return (lambda x, w, r: torch.addmm(r, x, w)), (leaf(TOKENS, inputs), weight, leaf(TOKENS, outputs))
    return (lambda x, w: x @ w), (leaf(TOKENS, inputs), weight)


def cases():
    angles = torch.outer(torch.arange(SEQUENCE), 1e4 ** (-torch.arange(HEAD // 2) / (HEAD // 2)))
    cosines, sines = (f(angles).view(SEQUENCE, 1, 1, HEAD // 2) for f in (torch.cos, torch.sin))
    ids, targets = torch.randint(VOCABULARY, (TOKENS,)), torch.randint(VOCABULARY, (TOKENS,))
    lookups, table = torch.randint(TABLE_ROWS, (TOKENS, LOOKUPS)), torch.randn(TABLE_ROWS, COLUMNS)
    wide = (TABLES + 1) * COLUMNS
    return {
        "linear_qkv": linear(CHANNELS, 3 * CHANNELS),
        "linear_out": linear(CHANNELS, CHANNELS, True),
        "linear_up": linear(CHANNELS, HIDDEN),
        "linear_down": linear(HIDDEN, CHANNELS, True),
        "linear_head": linear(CHANNELS, VOCABULARY),
        "attention": (attention, (leaf(TOKENS, 3 * CHANNELS),)),
        "rope": (lambda x: rope(x, cosines, sines), (leaf(TOKENS, 3 * CHANNELS),)),
        "rms_norm": (lambda x, g: F.rms_norm(x, (CHANNELS,), g, 1e-5), (leaf(TOKENS, CHANNELS), leaf(CHANNELS))),
        "layer_norm": (lambda x, g, b: F.layer_norm(x, (CHANNELS,), g, b), (leaf(TOKENS, CHANNELS), leaf(CHANNELS), leaf(CHANNELS))),
        "swiglu": (lambda x: F.silu(x[:, :HIDDEN]) * x[:, HIDDEN:], (leaf(TOKENS, 2 * HIDDEN),)),
        "gelu": (lambda x: F.gelu(x, approximate="tanh"), (leaf(TOKENS, HIDDEN),)),
        "add": (lambda a, b: a + b, (leaf(TOKENS, CHANNELS), leaf(TOKENS, CHANNELS))),
        "embedding": (lambda w: F.embedding(ids, w), (leaf(VOCABULARY, CHANNELS),)),
        "cross_entropy": (lambda z: F.cross_entropy(z, targets), (leaf(TOKENS, VOCABULARY),)),
        "convolution_3x3": (lambda x, w: F.conv2d(x, w, padding=1), (image(), kernel(3))),
        "convolution_1x1": (lambda x, w: F.conv2d(x, w), (image(), kernel(1))),
        "group_norm": (lambda x, g, b: F.relu(F.group_norm(x, 8, g, b)), (image(), leaf(MAPS), leaf(MAPS))),
        "max_pool": (lambda x: F.max_pool2d(x, 2), (image(),)),
        "add_relu": (lambda a, b: F.relu(a + b), (image(), image())),
        "embedding_bag": (lambda w: F.embedding_bag(lookups, w, mode="sum"), (table,)),
        "dot_interaction": (interaction, (leaf(TOKENS, COLUMNS), leaf(TOKENS, TABLES * COLUMNS))),
        "cross": (lambda a, u, x: torch.addcmul(x, a, u), (leaf(TOKENS, wide), leaf(TOKENS, wide), leaf(TOKENS, wide))),
    }


def median_of(work, seconds):
    work()
    work()
    taken, end = [], time.perf_counter() + seconds
    while len(taken) < 3 or time.perf_counter() < end:
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def time_operator(function, inputs, together, seconds):
    """Seconds by pass."""
    learned = [x for x in inputs if x.requires_grad]
    if together:
        return {"forward": median_of(lambda: torch.autograd.grad(function(*inputs), learned), seconds)}
    result = {"forward": median_of(lambda: function(*inputs), seconds)}
    if learned:
        output = function(*inputs)
        gradient = torch.randn_like(output)
        result["backward"] = median_of(lambda: torch.autograd.grad(output, learned, gradient, retain_graph=True), seconds)
    return result


def time_adamw(fused, seconds):
    parameter = torch.randn(1, 4 * CHANNELS * CHANNELS).requires_grad_()
    parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW([parameter], 1e-3, fused=fused, foreach=False if not fused else None)
    return {"forward": {"eager": median_of(optimizer.step, seconds)}}


def main():
    threads, seconds = int(sys.argv[1]), float(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    times = {"adamw": time_adamw(True, seconds), "adamw_in_passes": time_adamw(False, seconds)}
    for name, (function, inputs) in cases().items():
        by_mode = {mode: time_operator(f, inputs, name == "cross_entropy", seconds)
                   for mode, f in (("eager", function), ("compiled", torch.compile(function)))}
        times[name] = {key: {mode: found[key] for mode, found in by_mode.items()} for key in by_mode["eager"]}
        torch.compiler.reset()
    print(json.dumps({"torch": torch.__version__, "times": times}))


main()
