#include "probes/storage/crc32c.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace bench::storage {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string pattern(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(i * 31 + i / 251);
  return text;
}

}  // namespace

TEST_CASE("CRC-32C has the values of RFC 3720, by instructions and by tables") {
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  const std::vector<std::pair<std::string, std::uint32_t>> known = {
      {std::string(32, '\0'), 0x8a9136aau},
      {std::string(32, '\xff'), 0x62a8ab43u},
      {rising, 0x46dd794eu},
      {"123456789", 0xe3069283u},
      {"", 0u}};
  for (const auto& [text, value] : known) {
    CHECK(crc32c(bytes_of(text)) == value);
    CHECK(crc32c_portable(bytes_of(text)) == value);
  }
}

TEST_CASE("CRC-32C over several lanes equals that of single bytes, whole and in pieces") {
  for (const std::size_t size : {7u, 8191u, 8192u, 8193u, 50000u}) {
    const std::string text = pattern(size);
    const std::uint32_t whole = crc32c_portable(bytes_of(text));
    CHECK(crc32c(bytes_of(text)) == whole);
    const std::size_t cut = size / 3;
    CHECK(crc32c(bytes_of(text).subspan(cut), crc32c(bytes_of(text).first(cut))) == whole);
  }
}

TEST_CASE("a flipped bit anywhere changes the CRC-32C") {
  std::string text = pattern(20000);
  const std::uint32_t whole = crc32c(bytes_of(text));
  for (const std::size_t at : {0u, 2047u, 2048u, 8192u, 16383u, 16384u, 19999u}) {
    text[at] ^= 1;
    CHECK(crc32c(bytes_of(text)) != whole);
    text[at] ^= 1;
  }
  CHECK(crc32c(bytes_of(text)) == whole);
}

}  // namespace bench::storage
