// Documents made from a seed that ask of a tokenizer what real ones do: words by Zipf's law in
// several scripts, with and without spaces between them, numbers, punctuation, source code with
// indentation, runs of whitespace, emoji. They mean nothing.
#pragma once

#include <cstdint>

#include "probes/preprocessing/corpus.h"

namespace bench::preprocessing {

/// Documents of 200 B to 20 kB, until they have `bytes` bytes. The same for the same seed; document
/// i is the same for any number of bytes.
Corpus generated_corpus(std::uint64_t bytes, std::uint64_t seed);

}  // namespace bench::preprocessing
