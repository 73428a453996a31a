// Rank files of tiktoken: one token a line, its bytes in base64 and its rank, which is its ID too
// (tiktoken, load.py). The file does not name its pattern and control tokens: the model's name
// does.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

/// `pattern`: gpt2, cl100k_base, o200k_base or llama3 (named_pattern()). Throws Error(input) with
/// origin, line and value for what is not a token and a rank, for a token or rank that occurs
/// twice, a rank of 2^24 or more, and an unknown pattern.
TokenizerSpec parse_rank_file(std::string_view text, std::string_view pattern,
                              const std::string& origin);

}  // namespace bench::tokenizer
