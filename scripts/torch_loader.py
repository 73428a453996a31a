#!/usr/bin/env python3
"""Runs a data set through PyTorch's own way of loading, to compare benchctl's loader with.

    scripts/torch_loader.py FOLDER [--pipeline jpeg_folder|tokens] [--batch-size N] [--num-workers N] [--seconds S]

jpeg_folder: a folder of folders of JPEGs through torch.utils.data.DataLoader, with what trainings on ImageNet do to an
image: Pillow decodes it, a random crop is resized to 224 x 224 (bilinear with antialiasing, as torchvision's
RandomResizedCrop has it), half of them are turned over, then normalised to f32.
tokens: random windows of files of llm.c or nanoGPT, as nanoGPT's get_batch() takes them.

Prints one JSON object: samples per second and per CPU-second (of this process and its workers, the time in which they
start excluded). The probe data_loader runs it by itself where its parameter `pytorch_python` names a Python; else give it the
second as the parameter `pytorch`. Needs PyTorch, NumPy and, for images, Pillow; without them it says what is missing and ends
with 3.
"""

import argparse
import json
import math
import os
import pathlib
import random
import sys
import time

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
LLM_C = {20240520: "uint16", 20240801: "uint32"}
HEADER_BYTES = 1024


def missing(error):
    print(f"scripts/torch_loader.py: {error}: nothing was measured; install torch, numpy and pillow", file=sys.stderr)
    sys.exit(3)


try:
    import numpy
    import torch
except ImportError as error:
    missing(error)


def crop_box(width, height):
    """torchvision's RandomResizedCrop.get_params."""
    area = width * height
    for _ in range(10):
        wanted = area * random.uniform(0.08, 1.0)
        shape = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(wanted * shape)), round(math.sqrt(wanted / shape))
        if 0 < w <= width and 0 < h <= height:
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            return x, y, x + w, y + h
    side = min(width, height)
    x, y = (width - side) // 2, (height - side) // 2
    return x, y, x + side, y + side


class Images(torch.utils.data.Dataset):
    def __init__(self, folder, size=224):
        try:
            from PIL import Image
        except ImportError as error:
            missing(error)
        self.image, self.size = Image, size
        classes = sorted(p for p in pathlib.Path(folder).iterdir() if p.is_dir())
        self.files = [(str(path), label) for label, one in enumerate(classes or [pathlib.Path(folder)])
                      for path in sorted(one.iterdir()) if path.suffix.lower() in (".jpg", ".jpeg")]
        if not self.files:
            sys.exit(f"scripts/torch_loader.py: {folder}: no JPEG in it or its folders")
        self.mean = torch.tensor(MEAN).view(3, 1, 1)
        self.deviation = torch.tensor(DEVIATION).view(3, 1, 1)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with open(path, "rb") as file:
            image = self.image.open(file).convert("RGB")
        image = image.crop(crop_box(*image.size)).resize((self.size, self.size), self.image.Resampling.BILINEAR)
        if random.random() < 0.5:
            image = image.transpose(self.image.Transpose.FLIP_LEFT_RIGHT)
        pixels = torch.from_numpy(numpy.array(image)).permute(2, 0, 1).contiguous()
        return pixels.to(torch.float32).div(255).sub_(self.mean).div_(self.deviation), label


def cpu_seconds(pids):
    """Of these processes so far, by /proc."""
    ticks = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def one_thread(_):
    torch.set_num_threads(1)


def run_images(options):
    data = Images(options.folder, options.size)
    workers = dict(prefetch_factor=options.prefetch_factor, persistent_workers=True) if options.num_workers else {}
    loader = torch.utils.data.DataLoader(data, batch_size=options.batch_size, shuffle=True, drop_last=True,
                                         num_workers=options.num_workers, worker_init_fn=one_thread, **workers)
    if len(loader) == 0:
        sys.exit(f"scripts/torch_loader.py: {len(data)} images make no batch of {options.batch_size}")
    batches = iter(loader)

    def endless():
        nonlocal batches
        while True:
            batch = next(batches, None)
            if batch is not None:
                return batch
            batches = iter(loader)

    pids = [os.getpid()] + [worker.pid for worker in getattr(batches, "_workers", [])]
    return measure(endless, pids, options, warm_up=2 + options.num_workers * (options.prefetch_factor + 1))


def token_files(folder):
    files = [pathlib.Path(folder)] if pathlib.Path(folder).is_file() else sorted(pathlib.Path(folder).glob("*.bin"))
    for path in files:
        magic = int(numpy.fromfile(path, dtype="<u4", count=1)[0])
        kind = LLM_C.get(magic)
        yield numpy.memmap(path, dtype=kind or "uint16", mode="r", offset=HEADER_BYTES if kind else 0)


def run_tokens(options):
    data = next(token_files(options.folder))
    length = options.sequence

    def batch():
        starts = torch.randint(len(data) - length, (options.batch_size,))
        x = torch.stack([torch.from_numpy(data[i:i + length].astype(numpy.int64)) for i in starts])
        y = torch.stack([torch.from_numpy(data[i + 1:i + 1 + length].astype(numpy.int64)) for i in starts])
        return x, y

    return measure(batch, [os.getpid()], options, warm_up=20)


def measure(batch, pids, options, warm_up):
    for _ in range(warm_up):
        batch()
    busy, began, batches = cpu_seconds(pids), time.monotonic(), 0
    while time.monotonic() - began < options.seconds:
        batch()
        batches += 1
    seconds, busy = time.monotonic() - began, cpu_seconds(pids) - busy
    samples = batches * options.batch_size
    return {"batches": batches, "samples_per_second": samples / seconds, "samples_per_cpu_second": samples / busy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--pipeline", choices=("jpeg_folder", "tokens"), default="jpeg_folder")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--prefetch-factor", type=int, default=2)
    parser.add_argument("--sequence", type=int, default=1024, help="tokens of a sample (default 1024)")
    parser.add_argument("--size", type=int, default=224, help="sides of an image in a batch (default 224)")
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    if not os.path.exists(options.folder):
        sys.exit(f"scripts/torch_loader.py: there is no {options.folder}")
    torch.set_num_threads(1)  # as a worker has it; threads of a batch's transforms are no faster
    found = run_images(options) if options.pipeline == "jpeg_folder" else run_tokens(options)
    print(json.dumps({"pytorch": torch.__version__, "pipeline": options.pipeline, "batch_size": options.batch_size,
                      "num_workers": options.num_workers, **found}))


if __name__ == "__main__":
    main()
