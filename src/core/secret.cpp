#include "core/secret.h"

#include <sys/random.h>

#include <array>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::size_t kBlockBytes = 64;  // of SHA-256
using HmacBlock = std::array<std::byte, kBlockBytes>;

/// A key that is longer than a block is replaced by its hash.
HmacBlock block_of(std::string_view key) {
  std::string hashed;
  if (key.size() > kBlockBytes) {
    Sha256 hash;
    hash.update(key);
    key = hashed = hash.digest();
  }
  HmacBlock block{};
  for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<std::byte>(key[i]);
  return block;
}

void start(Sha256& hash, HmacBlock block, std::byte pad) {
  for (std::byte& one : block) one ^= pad;
  hash.update(block);
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
  inner_.update(part);
  return *this;
}

std::string Hmac::digest() {
  outer_.update(inner_.digest());
  return outer_.digest();
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  return Hmac(key).add(text).digest();
}

bool same_secret(std::string_view ours, std::string_view theirs) {
  unsigned different = ours.size() == theirs.size() ? 0 : 1;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    different |= static_cast<unsigned char>(theirs[i] ^ (i < ours.size() ? ours[i] : '\0'));
  return different == 0;
}

}  // namespace bench
