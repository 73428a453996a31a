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

/// The same of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// Call once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
