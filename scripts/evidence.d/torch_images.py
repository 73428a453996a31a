"""Times answers about images by PyTorch on the CPU, of the models of our probe `image_inference`.

    python torch_images.py MODEL MODE THREADS BATCH SECONDS

MODEL: resnet50, vit_b16, flow (small, STEPS of Euler's method). MODE: eager or compiled. Prints {"seconds": [...], "parameters": n}:
the time of each batch.
"""

import json
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
    name, mode, threads, batch, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    if name == "flow":
        model = FlowTransformer(FLOW)
        data = (torch.randint(FLOW["vocabulary"], (batch, FLOW["words"])), torch.randn(batch, FLOW["patches"], FLOW["columns"]),
                [torch.randn(batch, FLOW["times"]) for _ in range(STEPS)])
    else:
        model = {"resnet50": ResNet50, "vit_b16": VisionTransformer}[name]()
        data = (torch.randn(batch, 3, 224, 224),)
        if name == "resnet50":  # oneDNN's convolutions are faster so
            model, data = model.to(memory_format=torch.channels_last), (data[0].to(memory_format=torch.channels_last),)
    parameters = sum(p.numel() for p in model.parameters())
    model.eval()
    forward = torch.compile(model) if mode == "compiled" else model
    answer = (lambda: generate(forward, *data)) if name == "flow" else (lambda: forward(*data))
    times = []
    with torch.inference_mode():
        for _ in range(2):  # compiles, and warms up
            answer()
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(times) < 3:
            began = time.monotonic()
            answer()
            times.append(time.monotonic() - began)
    print(json.dumps({"seconds": times, "parameters": parameters}))


if __name__ == "__main__":
    main()
