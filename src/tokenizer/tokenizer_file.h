// Tokenizer files: `tokenizer.json` of Hugging Face's tokenizers with a byte-level BPE, and rank
// files of tiktoken. What is not implemented is refused by name, because it would change the IDs:
// another kind of model (WordPiece, Unigram), normalizers, dropout, byte_fallback, prefixes and
// suffixes of words, and pre-tokenizers other than ByteLevel, alone or after Splits by regular
// expressions. The post_processor, which adds control tokens around a text, is not applied.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

/// Throws Error(input) naming origin, key and value seen for what is not such a file or not
/// implemented, and for IDs out of range or given twice, merges of unknown tokens, and a byte
/// without a token.
TokenizerSpec parse_tokenizer_json(std::string_view text, const std::string& origin);

/// A file of either kind: one that begins with '{' is JSON. `pattern` is that of a rank file, which
/// does not name it; "" if not given. Throws Error(input) as above, for a missing pattern, one
/// given with a tokenizer.json, and files of more than 256 MiB, Error(environment) for a file that
/// cannot be read.
TokenizerSpec read_tokenizer(const std::filesystem::path& path, std::string_view pattern);

/// A tokenizer.json that tokenizers reads and that gives the same IDs. Only for merges whose ranks
/// follow one another from 0.
std::string tokenizer_json(const TokenizerSpec& spec);

}  // namespace bench::tokenizer
