// SHA-256, to tell whether two texts or files are equal. For proofs of a secret see core/secret.h.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bench {

/// 64 lower-case hex digits.
std::string sha256(std::string_view bytes);

/// Two lower-case hex digits a byte.
std::string hex_digits(std::string_view bytes);

/// SHA-256 of bytes that come in pieces. libcrypto computes it, with the CPU's own instructions
/// where there are any.
class Sha256 {
 public:
  static constexpr std::size_t kBytes = 32;

  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// kBytes bytes. Call this or finish(), once.
  std::string digest();
  /// 64 lower-case hex digits.
  std::string finish() { return hex_digits(digest()); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
