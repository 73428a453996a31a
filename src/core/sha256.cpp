#include "core/sha256.h"

#include <sha2.h>

#include <cstdint>

namespace bench {

std::string sha256(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_STRING_LENGTH, '\0');
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digest.data());
  digest.resize(SHA256_DIGEST_STRING_LENGTH - 1);
  return digest;
}

}  // namespace bench
