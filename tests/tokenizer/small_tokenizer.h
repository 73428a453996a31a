// The vocabulary of tests/data/tokenizer, and texts with the IDs that other programs give them.
#pragma once

#include "core/json.h"
#include "tokenizer/tokenizer_spec.h"

namespace bench::tokenizer {

inline std::string small_file() { return read_file("tests/data/tokenizer/small.json"); }
inline Json small_json() { return parse_json(small_file(), "small.json"); }
inline Json known_vectors() { return read_json("tests/data/tokenizer/vectors.json"); }

}  // namespace bench::tokenizer
