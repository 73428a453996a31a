#include "core/secret.h"

#include <sys/random.h>

#include <array>

#include "core/error.h"

namespace bench {
namespace {

using HmacBlock = std::array<std::byte, SHA256_BLOCK_LENGTH>;

void hash(SHA2_CTX& context, std::span<const std::byte> bytes) {
  SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string finish(SHA2_CTX& context) {
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &context);
  return {digest.begin(), digest.end()};
}

/// A key that is longer than a block is replaced by its hash.
HmacBlock block_of(std::string_view key) {
  std::string hashed;
  if (key.size() > SHA256_BLOCK_LENGTH) {
    SHA2_CTX context;
    SHA256Init(&context);
    hash(context, std::as_bytes(std::span(key)));
    key = hashed = finish(context);
  }
  HmacBlock block{};
  for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<std::byte>(key[i]);
  return block;
}

void start(SHA2_CTX& context, HmacBlock block, std::byte pad) {
  for (std::byte& one : block) one ^= pad;
  SHA256Init(&context);
  hash(context, block);
}

}  // namespace

std::string random_secret() {
  std::string bytes(Hmac::kBytes, '\0');
  // Up to 256 bytes come whole, without an interruption by a signal.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw_errno("read random numbers from the kernel");
  return hex_digits(bytes);
}

Hmac::Hmac(std::string_view key) {
  const HmacBlock block = block_of(key);
  start(inner_, block, std::byte{0x36});
  start(outer_, block, std::byte{0x5c});
}

Hmac& Hmac::add(std::span<const std::byte> part) {
  hash(inner_, part);
  return *this;
}

std::string Hmac::digest() {
  const std::string inner = finish(inner_);
  hash(outer_, std::as_bytes(std::span(inner)));
  return finish(outer_);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  return Hmac(key).add(text).digest();
}

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool same_secret(std::string_view ours, std::string_view theirs) {
  unsigned different = ours.size() == theirs.size() ? 0 : 1;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    different |= static_cast<unsigned char>(theirs[i] ^ (i < ours.size() ? ours[i] : '\0'));
  return different == 0;
}

}  // namespace bench
