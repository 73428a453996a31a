"""GEMMs and copies of PyTorch on GPU 0, timed by events; prints one JSON object. Exit code 77: no PyTorch, or no GPU for it."""

import itertools
import json
import math
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
SQUARE = [8192, 8192, 8192]
# As the suite gpu measures GEMMs: the chip is under load for as long, so that its clock and power are the same.
WARM_UP_S, SAMPLE_S, SAMPLES = 0.5, 0.1, 20
COPY_S = 0.01  # copies do not heat the chip
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


def timed(work, calls):
    """Seconds of one call, of several with a full queue."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(calls):
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e-3 / calls


def seconds(work, sample_s=SAMPLE_S):
    """Median of samples, each of as many calls as last `sample_s`."""
    warm_up(work)
    calls = max(1, math.ceil(sample_s / timed(work, IN_A_ROW)))
    return statistics.median(timed(work, calls) for _ in range(SAMPLES))


def operands(make, m, n, k):
    """As many pairs of A (m x k) and B transposed (n x k) as exceed the L2, in turns."""
    bytes_of_set = sum(one.nbytes for one in make(m, n, k))
    return itertools.cycle([make(m, n, k) for _ in range(past_the_l2(bytes_of_set))])


def random_of(dtype):
    def make(m, n, k):
        drawn = torch.promote_types(dtype, torch.float32)  # f64 made of f32 has half its bits 0, and needs less power
        a, b = (torch.randn(rows, k, device="cuda", dtype=drawn) for rows in (m, n))
        return a.to(dtype), b.to(dtype), torch.empty(m, n, device="cuda", dtype=dtype)
    return make


def random_bytes(m, n, k):
    a, b = (torch.randint(-128, 128, (rows, k), device="cuda", dtype=torch.int8) for rows in (m, n))
    return a, b, torch.empty(m, n, device="cuda", dtype=torch.int32)


def random_fp8(m, n, k):
    a, b = (torch.randn(rows, k, device="cuda", dtype=torch.float32).to(torch.float8_e4m3fn) for rows in (m, n))
    return a, b, torch.empty(m, n, device="cuda", dtype=torch.bfloat16)


def scaled_mm(fast):
    one = torch.ones((), device="cuda", dtype=torch.float32)

    def run(a, b, c):
        torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast, out=c)
    return run


def matmul(a, b, c):
    torch.matmul(a, b.t(), out=c)


def with_tf32(a, b, c):
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        torch.matmul(a, b.t(), out=c)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False


def kinds():
    """(params, maker of operands, product, shapes). fp8 without fast accumulation has no such param, as in ours."""
    yield {"dtype": "bf16"}, random_of(torch.bfloat16), matmul, SHAPES
    yield {"dtype": "fp8_e4m3", "fast_accumulation": None}, random_fp8, scaled_mm(False), [SQUARE]
    yield {"dtype": "fp8_e4m3", "fast_accumulation": True}, random_fp8, scaled_mm(True), SHAPES
    yield {"dtype": "f16"}, random_of(torch.float16), matmul, [SQUARE]
    yield {"dtype": "tf32"}, random_of(torch.float32), with_tf32, [SQUARE]
    yield {"dtype": "f64"}, random_of(torch.float64), matmul, [SQUARE]
    yield {"dtype": "f32"}, random_of(torch.float32), matmul, [SQUARE]
    yield {"dtype": "int8"}, random_bytes, lambda a, b, c: torch._int_mm(a, b.t(), out=c), [SQUARE]


def product(params, make, multiply, shape):
    m, n, k = shape
    row = {"params": {**params, "m": m, "n": n, "k": k}}
    try:
        turn = operands(make, m, n, k)
        row["value"] = 2.0 * m * n * k / seconds(lambda: multiply(*next(turn)))
    except (RuntimeError, AttributeError, TypeError, NotImplementedError) as error:  # one type that PyTorch lacks loses no other
        row["skipped"] = f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
    torch.cuda.empty_cache()
    return row


def products():
    return [product(params, make, multiply, shape) for params, make, multiply, shapes in kinds() for shape in shapes]


def copies():
    bytes_of_set = 4294967296
    half = torch.ones(bytes_of_set // 16, device="cuda", dtype=torch.float64).normal_()
    other = torch.empty_like(half)
    third = torch.ones(bytes_of_set // 24, device="cuda", dtype=torch.float64).normal_()
    fourth, fifth = third.clone(), torch.empty_like(third)
    rows = [
        {"params": {"kernel": "copy", "size_bytes": bytes_of_set},
         "value": 2.0 * half.nbytes / seconds(lambda: other.copy_(half), COPY_S)},
        {"params": {"kernel": "triad", "size_bytes": bytes_of_set},
         "value": 3.0 * third.nbytes / seconds(lambda: torch.add(third, fourth, alpha=3.0, out=fifth), COPY_S)},
        {"params": {"kernel": "read", "size_bytes": bytes_of_set},
         "value": half.nbytes / seconds(lambda: torch.sum(half), COPY_S)},
    ]
    host = torch.ones(268435456 // 4, dtype=torch.float32).pin_memory()
    device = torch.empty(268435456 // 4, device="cuda", dtype=torch.float32)
    for route, work in (("host_to_device", lambda: device.copy_(host, non_blocking=True)),
                        ("device_to_host", lambda: host.copy_(device, non_blocking=True))):
        rows.append({"params": {"route": route, "memory": "pinned", "size_bytes": 268435456},
                     "value": device.nbytes / seconds(work, COPY_S)})
    return rows


def possible_copies():
    """None on a GPU whose memory is too small for them."""
    try:
        return copies()
    except RuntimeError as error:
        print(f"torch_peers: no copies: {error}", file=sys.stderr)
        return []


if __name__ == "__main__":
    print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda, "gpu": torch.cuda.get_device_name(0),
                      "products": products(), "copies": possible_copies()}))
