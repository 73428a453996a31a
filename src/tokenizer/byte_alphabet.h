// The characters by which byte-level tokenizers write bytes in their files: each byte is one
// printable character, so that any bytes are readable text (GPT-2, encoder.py, bytes_to_unicode).
// Printable Latin-1 stands for itself; the other 68 bytes, in order, are U+0100 to U+0143: a space
// is U+0120.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bench::tokenizer {

/// The bytes in these characters, as UTF-8.
std::string to_byte_alphabet(std::string_view bytes);

/// The bytes that the characters stand for; nothing if one of them is not of the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace bench::tokenizer
