#include "core/sha256.h"

#include <sha2.h>

#include <cstdint>

namespace bench {

struct Sha256::State {
  SHA2_CTX context = {};
};

Sha256::Sha256() : state_(std::make_unique<State>()) { SHA256Init(&state_->context); }
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  SHA256Update(&state_->context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::finish() {
  std::string digest(SHA256_DIGEST_STRING_LENGTH, '\0');
  SHA256End(&state_->context, digest.data());
  digest.resize(SHA256_DIGEST_STRING_LENGTH - 1);
  return digest;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

}  // namespace bench
