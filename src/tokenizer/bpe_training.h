// Trains a byte-level BPE on a text: from the 256 bytes on, the most frequent pair of neighbours
// within the pieces becomes a token, again and again (Gage 1994, Sennrich et al. 2016). Of equally
// frequent pairs the one with the lowest IDs is taken, so that a text makes one vocabulary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

struct TrainingOptions {
  TokenId vocabulary = 16384;  // with the 256 bytes and the end of a text, at least 257
  std::string pattern = {};    // a regular expression
  std::string end_of_text = "<|endoftext|>";
};

/// The last ID is that of the end of a text. There are fewer tokens if no pair occurs twice any
/// more. Pieces of more than 1 KiB are left out. Throws Error(input) for a vocabulary out of range.
TokenizerSpec train_bpe(const std::vector<std::string_view>& documents,
                        const TrainingOptions& options);

}  // namespace bench::tokenizer
