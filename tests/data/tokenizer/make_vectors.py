#!/usr/bin/env python3
"""Makes vectors.json: texts and their IDs by tokenizers and tiktoken, for the vocabulary small.json.

    python3 tests/data/tokenizer/make_vectors.py      # needs tokenizers and tiktoken from PyPI

small.json was trained by `benchctl run` on generated text: probe preprocessing, stage tokenize, text_bytes 400000, vocabulary 600, output.
Its tokens in order are the ranks that tiktoken gets (small.tiktoken, written here).
"""
import base64
import json
import pathlib

import tiktoken
import tiktoken_ext.openai_public as openai_public
import tokenizers

HERE = pathlib.Path(__file__).parent
ALPHABET = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
CHARACTER = {b: chr(b) for b in ALPHABET}
CHARACTER.update({b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in CHARACTER)})
BYTE = {c: b for b, c in CHARACTER.items()}

# Llama 3, tokenizer.py; the others are read from tiktoken.
LLAMA3 = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""


def patterns():
    """By name, without the rank files that tiktoken would download."""
    openai_public.load_tiktoken_bpe = openai_public.data_gym_to_mergeable_bpe_ranks = lambda *_, **__: {}
    known = {name: getattr(openai_public, name)()["pat_str"] for name in ("gpt2", "cl100k_base", "o200k_base")}
    return {**known, "llama3": LLAMA3}


TEXTS = [
    "", "a", " ", "the thing", "It's what they'LL say, isn'T it? WE'RE HERE", "12345 678 9,000.00 ½ ² ٣٤٥",
    "    def f(x):\n\t\treturn x ** 2\n\n\n", "trailing blanks   ", "  \n  \n\n   x", "line\r\nline\r\n\r\nend", "tabs\t\tand\u00a0no-break\u2003em",
    "\u0085next line\u2028separator\u180evowel", "naïve façade Ærøskøbing Straße ſ's", "Привет, мир! Ещё раз", "नमस्ते दुनिया", "你好，世界。这是一个测试",
    "👩‍🔬🇪🇺❤️ 🙂🙂", "e\u0301 combining", "<|endoftext|> is text", "CamelCaseWords HTTPServer iPhone", "a" * 200, " " * 70, "ab" * 90 + "\n" * 9,
    "$%^&*()_+-=[]{}|;':\",./<>?", "....!!!///\n/\n", "x\u200by\ufeffz", "\u1e9e\u01c5\u02b0\u00aa", "0x1F 1e-9 v2.0.1", "مرحبا بالعالم", "한국어 텍스트",
    "x\n  ", "x \r\n\n \t", "  \n", "\n\n\n", "x\n  y\n  ", " \u00a0\n\u3000", "1234567\n ", "x!\n\n  ",
]


def tokens_of(spec):
    tokens = {}
    for text, number in spec["model"]["vocab"].items():
        tokens[number] = bytes(BYTE[c] for c in text)
    return [tokens[number] for number in range(len(tokens))]


def by_tokenizers(spec):
    reader = tokenizers.Tokenizer.from_str(json.dumps(spec))
    reader.encode_special_tokens = True
    return [reader.encode(text, add_special_tokens=False).ids for text in TEXTS]


def main():
    spec = json.loads((HERE / "small.json").read_text(encoding="utf-8"))
    tokens = tokens_of(spec)
    ranks = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    (HERE / "small.tiktoken").write_text(ranks, encoding="utf-8")
    ids = {"tokenizers": by_tokenizers(spec)}
    whole = json.loads(json.dumps(spec))
    whole["model"]["ignore_merges"] = True
    ids["tokenizers_ignore_merges"] = by_tokenizers(whole)
    plain = json.loads(json.dumps(spec))
    plain["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    ids["tokenizers_byte_level"] = by_tokenizers(plain)
    for name, pattern in patterns().items():
        encoding = tiktoken.Encoding("small", pat_str=pattern, mergeable_ranks={t: r for r, t in enumerate(tokens)}, special_tokens={})
        ids["tiktoken_" + name] = [encoding.encode_ordinary(text) for text in TEXTS]
    made = {"made_by": f"make_vectors.py with tokenizers {tokenizers.__version__} and tiktoken {tiktoken.__version__}", "texts": TEXTS, "ids": ids}
    (HERE / "vectors.json").write_text(json.dumps(made, ensure_ascii=True, separators=(",", ":")) + "\n", encoding="utf-8")


main()
