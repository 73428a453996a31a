// A secret shared by processes: made at random, proven without being shown, compared in constant
// time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/sha256.h"

namespace bench {

/// The variable by which a launcher hands ranks the secret of their group.
inline constexpr const char* kGroupSecret = "BENCH_GROUP_SECRET";

/// 32 bytes from the kernel's random number generator, as 64 hex digits. Throws Error(environment).
std::string random_secret();

/// HMAC-SHA-256 (RFC 2104) of a text that is given in parts.
class Hmac {
 public:
  static constexpr std::size_t kBytes = Sha256::kBytes;

  explicit Hmac(std::string_view key);
  Hmac& add(std::span<const std::byte> part);
  Hmac& add(std::string_view part) { return add(std::as_bytes(std::span(part))); }
  /// kBytes bytes. Called once, at the end.
  std::string digest();

 private:
  Sha256 inner_, outer_;
};

std::string hmac_sha256(std::string_view key, std::string_view text);

/// Takes as long for a wrong guess as for the right one.
bool same_secret(std::string_view ours, std::string_view theirs);

}  // namespace bench
