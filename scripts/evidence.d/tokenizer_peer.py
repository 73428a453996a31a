"""One peer of scripts/evidence tokenizer_peers: the rate at which a library tokenises the documents of a .jsonl file.

    tokenizer_peer.py tiktoken|tokenizers FILE PATTERN TEXT THREADS
"""
import base64
import hashlib
import json
import statistics
import sys
import time

import numpy

SECONDS, REPEATS = 3.0, 3


def pattern_of(name):
    """As tiktoken has it, without the rank files that it would download."""
    import tiktoken_ext.openai_public as known
    known.load_tiktoken_bpe = known.data_gym_to_mergeable_bpe_ranks = lambda *_, **__: {}
    return getattr(known, name)()["pat_str"]


def tiktoken_encoder(file, pattern, threads):
    import tiktoken
    ranks = {}
    with open(file, "rb") as lines:
        for line in lines:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    encoding = tiktoken.Encoding("peer", pat_str=pattern_of(pattern), mergeable_ranks=ranks, special_tokens={})
    if threads == 1:
        return tiktoken.__version__, lambda texts: [encoding.encode_ordinary(text) for text in texts], lambda ids: ids
    return tiktoken.__version__, lambda texts: encoding.encode_ordinary_batch(texts, num_threads=threads), lambda ids: ids


def tokenizers_encoder(file):
    import tokenizers
    reader = tokenizers.Tokenizer.from_file(file)
    reader.encode_special_tokens = True
    return tokenizers.__version__, lambda texts: reader.encode_batch_fast(texts, add_special_tokens=False), lambda ids: ids.ids


def main():
    library, file, pattern, text, threads = *sys.argv[1:5], int(sys.argv[5])
    with open(text, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    size = sum(len(each.encode()) for each in texts)
    version, encode, ids_of = tiktoken_encoder(file, pattern, threads) if library == "tiktoken" else tokenizers_encoder(file)
    times, began = [], time.perf_counter()
    while len(times) < REPEATS or time.perf_counter() - began < SECONDS:
        start = time.perf_counter()
        encoded = encode(texts)
        times.append(time.perf_counter() - start)
    digest = hashlib.sha256()
    for each in encoded:
        digest.update(numpy.asarray(ids_of(each), dtype="<u4").tobytes())
    print(json.dumps({"version": version, "bytes_per_second": size / statistics.median(times), "ids_sha256": digest.hexdigest()}))


main()
