"""Versions and paths of the libraries that PyTorch uses; prints one JSON object. Exit code 77: no PyTorch, or no GPU for it."""

import json
import sys

try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available():
    sys.exit(77)

import ctypes  # noqa: E402
import os  # noqa: E402


def loaded():
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if line.count("/")}
    return sorted(path for path in paths if os.path.basename(path).startswith(("libcu", "libnccl", "libnv")))


a = torch.ones(64, 64, device="cuda", dtype=torch.bfloat16)
torch.matmul(a, a)
torch.cuda.synchronize()
libraries = loaded()
lt = next((path for path in libraries if "libcublasLt.so" in path), None)
version = None
if lt:
    get_version = ctypes.CDLL(lt).cublasLtGetVersion
    get_version.restype = ctypes.c_size_t
    version = get_version()


def nccl():
    try:
        return ".".join(map(str, torch.cuda.nccl.version()))
    except (AttributeError, RuntimeError):
        return None


print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(), "cublaslt": version,
                  "nccl": nccl(), "libraries": libraries}))
