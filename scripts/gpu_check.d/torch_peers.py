"""GEMMs and copies of PyTorch on GPU 0, timed by events; prints one JSON object. Exit code 77: no PyTorch, or no GPU for it."""

import itertools
import json
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available():
    sys.exit(77)

SHAPES = [[4096, 4096, 4096], [8192, 8192, 8192], [16384, 8192, 8192], [8192, 28672, 8192], [8192, 8192, 28672],
          [2048, 14336, 4096]]
WARM_UP_S, SAMPLES = 0.5, 40
IN_A_ROW = 10  # calls before the queue is waited for


def past_the_l2(bytes_of_set):
    """Number of operand sets that exceed four times the L2, as benchctl's GEMMs rotate through."""
    return 4 * getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 0) // bytes_of_set + 1


def warm_up(work):
    """Warm up by time, as benchctl does: a GPU needs a while under load to reach its clock, however long one call takes."""
    end = time.monotonic() + WARM_UP_S
    while time.monotonic() < end:
        for _ in range(IN_A_ROW):
            work()
        torch.cuda.synchronize()


def seconds(work):
    """Median of samples with a full queue."""
    warm_up(work)
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(SAMPLES)]
    torch.cuda.synchronize()
    for begin, end in events:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in events) * 1e-3


def products():
    rows = []
    for m, n, k in SHAPES:
        sets = [(torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.randn(n, k, device="cuda", dtype=torch.bfloat16),
                 torch.empty(m, n, device="cuda", dtype=torch.bfloat16)) for _ in range(past_the_l2(2 * (m * k + n * k + m * n)))]
        turn = itertools.cycle(sets)

        def product():
            a, b, c = next(turn)
            torch.matmul(a, b.t(), out=c)

        took = seconds(product)
        rows.append({"params": {"dtype": "bf16", "m": m, "n": n, "k": k}, "value": 2.0 * m * n * k / took})
    return rows


def copies():
    bytes_of_set = 4294967296
    half = torch.ones(bytes_of_set // 16, device="cuda", dtype=torch.float64).normal_()
    other = torch.empty_like(half)
    third = torch.ones(bytes_of_set // 24, device="cuda", dtype=torch.float64).normal_()
    fourth, fifth = third.clone(), torch.empty_like(third)
    rows = [
        {"params": {"kernel": "copy", "size_bytes": bytes_of_set},
         "value": 2.0 * half.nbytes / seconds(lambda: other.copy_(half))},
        {"params": {"kernel": "triad", "size_bytes": bytes_of_set},
         "value": 3.0 * third.nbytes / seconds(lambda: torch.add(third, fourth, alpha=3.0, out=fifth))},
        {"params": {"kernel": "read", "size_bytes": bytes_of_set},
         "value": half.nbytes / seconds(lambda: torch.sum(half))},
    ]
    host = torch.ones(268435456 // 4, dtype=torch.float32).pin_memory()
    device = torch.empty(268435456 // 4, device="cuda", dtype=torch.float32)
    for route, work in (("host_to_device", lambda: device.copy_(host, non_blocking=True)),
                        ("device_to_host", lambda: host.copy_(device, non_blocking=True))):
        rows.append({"params": {"route": route, "memory": "pinned", "size_bytes": 268435456},
                     "value": device.nbytes / seconds(work)})
    return rows


if __name__ == "__main__":
    print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(0),
                      "products": products(), "copies": copies()}))
