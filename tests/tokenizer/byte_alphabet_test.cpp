#include "tokenizer/byte_alphabet.h"

#include "tests/support/catch.h"

namespace bench::tokenizer {
namespace {

TEST_CASE("each byte has a character of its own and comes back from it") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const std::string text = to_byte_alphabet(bytes);
  CHECK(from_byte_alphabet(text) == bytes);
  CHECK(to_byte_alphabet(" \n\x7f") == "ĠĊġ");
  CHECK(to_byte_alphabet("a\xc3\xad") == "aÃŃ");
}

TEST_CASE("what is not of the alphabet of bytes is no bytes") {
  for (const char* text : {" ", "\n", "ń", "\xc4", "\xc4z", "\xc0\xa1", "\xff", "the｜end"}) {
    INFO(text);
    // U+0144 is the first character behind the alphabet.
    CHECK(from_byte_alphabet(text) == std::nullopt);
  }
  CHECK(from_byte_alphabet("") == "");
}

}  // namespace
}  // namespace bench::tokenizer
