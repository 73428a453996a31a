#include "core/sha256.h"

#include <openssl/evp.h>

#include <new>

#include "core/error.h"

namespace bench {
namespace {

/// libcrypto's functions return 1. They fail without memory, or where an administrator's settings
/// forbid SHA-256.
void check_done(int result) {
  if (result != 1)
    throw Error(ErrorKind::environment, "libcrypto could not compute a SHA-256",
                "check the OpenSSL settings of this system");
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (state_->context == nullptr) throw std::bad_alloc();
  check_done(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
}
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check_done(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
}

std::string Sha256::digest() {
  std::string bytes(kBytes, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(bytes.data());
  check_done(EVP_DigestFinal_ex(state_->context.get(), to, nullptr));
  return bytes;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
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

}  // namespace bench
