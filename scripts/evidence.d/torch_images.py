"""Times answers about images by PyTorch on the CPU, of the models of our probe `image_inference`.

    python torch_images.py MODEL MODE CORES BATCH SECONDS

MODEL: resnet50, vit_b16, flow (small, STEPS of Euler's method). MODE: eager, or compiled, with weights frozen and packed. CORES: numbers
of those to run on, as "0,1". Says "ready" once it has compiled and warmed up, waits for a line, and prints
{"seconds": [...], "parameters": n}: the time of each batch.
"""

import importlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
import torch
from torch_models import FlowTransformer, ResNet50, VisionTransformer

STEPS = 4
FLOW = {"double": 4, "single": 8, "width": 768, "heads": 12, "hidden": 3072, "words": 24, "vocabulary": 90, "patches": 256, "columns": 16,
        "times": 256}


def generate(model, words, noise, times):
    x = noise
    for time_of_step in times:
        x = x - model(words, x, time_of_step) / len(times)
    return x


def main():
    name, mode, batch, seconds = sys.argv[1], sys.argv[2], int(sys.argv[4]), float(sys.argv[5])
    cores = [int(core) for core in sys.argv[3].split(",")]
    os.sched_setaffinity(0, cores)
    torch.set_num_threads(len(cores))
    torch.manual_seed(1)
    if name == "flow":
        model = FlowTransformer(FLOW)
        data = (torch.randint(FLOW["vocabulary"], (batch, FLOW["words"])), torch.randn(batch, FLOW["patches"], FLOW["columns"]),
                [torch.randn(batch, FLOW["times"]) for _ in range(STEPS)])
    else:
        model = {"resnet50": ResNet50, "vit_b16": VisionTransformer}[name]()
        data = (torch.randn(batch, 3, 224, 224),)
        if name == "resnet50":  # the layout in which its convolutions are fastest
            model, data = model.to(memory_format=torch.channels_last), (data[0].to(memory_format=torch.channels_last),)
    parameters = sum(p.numel() for p in model.parameters())
    model.eval()
    if mode == "compiled":
        importlib.import_module("torch._inductor.config").freezing = True
    forward = torch.compile(model) if mode == "compiled" else model
    answer = (lambda: generate(forward, *data)) if name == "flow" else (lambda: forward(*data))
    times = []
    with torch.no_grad():
        for _ in range(2):  # compiles, and warms up
            answer()
        print("ready", flush=True)
        sys.stdin.readline()
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(times) < 3:
            began = time.monotonic()
            answer()
            times.append(time.monotonic() - began)
    print(json.dumps({"seconds": times, "parameters": parameters}))


if __name__ == "__main__":
    main()
