// SHA-256 of a text, to tell whether two are equal. For proofs of a secret see core/secret.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bench {

/// 64 lower-case hex digits.
std::string sha256(std::string_view bytes);

/// The same of bytes that are added one part after another.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view bytes);
  /// 64 lower-case hex digits of all bytes added. Once.
  std::string digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace bench
