// SHA-256 of a text, to tell whether two are equal. For proofs of a secret see core/secret.h.
#pragma once

#include <string>
#include <string_view>

namespace bench {

/// 64 lower-case hex digits.
std::string sha256(std::string_view bytes);

}  // namespace bench
