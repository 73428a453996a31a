// Which parts of a text are UTF-8 (RFC 3629: no overlong forms, no surrogates, up to U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace bench::tokenizer {

/// Length of the longest valid beginning, in bytes.
std::size_t valid_utf8(std::string_view text);

/// Length of the bytes at the beginning that are not part of a valid character.
std::size_t invalid_utf8(std::string_view text);

/// Where to cut a text that is longer than `most` bytes: there, or up to three bytes before, so
/// that no character is cut in two.
std::size_t cut_of_utf8(std::string_view text, std::size_t most);

}  // namespace bench::tokenizer
