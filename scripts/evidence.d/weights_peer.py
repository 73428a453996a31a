"""The peer's part of weights_export, in a Python with torch, transformers and safetensors; prints one JSON object.

    weights_peer.py loss FOLDER TOKENS SEQUENCE BATCH
    weights_peer.py save FOLDER FILE
    weights_peer.py versions
"""
import hashlib
import json
import os
import sys
import time


def loss(folder, tokens, sequence, batch):
    import numpy
    import torch
    from transformers import AutoModelForCausalLM

    model, info = AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32, output_loading_info=True)
    model.eval()
    read = numpy.fromfile(tokens, dtype="<u2").astype("int64")
    sequence, batch = int(sequence), int(batch)
    inputs = torch.tensor(numpy.stack([read[i * sequence:(i + 1) * sequence] for i in range(batch)]))
    targets = torch.tensor(numpy.stack([read[i * sequence + 1:(i + 1) * sequence + 1] for i in range(batch)]))
    with torch.no_grad():
        logits = model(input_ids=inputs).logits.double()
    mean = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    return {"loss": mean.item(), "model": type(model).__name__, "missing": sorted(info["missing_keys"]),
            "unexpected": sorted(info["unexpected_keys"])}


def save(folder, path):
    from safetensors.numpy import load_file, save_file

    tensors = load_file(os.path.join(folder, "model.safetensors"))
    begin = time.monotonic()
    save_file(tensors, path)
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 22):
            digest.update(piece)
        os.fsync(file.fileno())
    return {"rate": os.path.getsize(path) / (time.monotonic() - begin)}


def versions():
    import safetensors
    import torch
    import transformers

    return {"torch": torch.__version__, "transformers": transformers.__version__, "safetensors": safetensors.__version__}


if __name__ == "__main__":
    print(json.dumps({"loss": loss, "save": save, "versions": versions}[sys.argv[1]](*sys.argv[2:])))
