#include "core/sha256.h"

#include <sha2.h>

#include <cstdint>

namespace bench {

struct Sha256::Context {
  SHA2_CTX state;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { SHA256Init(&context_->state); }
Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
  SHA256Update(&context_->state, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::digest() {
  std::string digest(SHA256_DIGEST_STRING_LENGTH, '\0');
  SHA256End(&context_->state, digest.data());
  digest.resize(SHA256_DIGEST_STRING_LENGTH - 1);
  return digest;
}

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_STRING_LENGTH, '\0');
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digest.data());
  digest.resize(SHA256_DIGEST_STRING_LENGTH - 1);
  return digest;
}

}  // namespace bench
