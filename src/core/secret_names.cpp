#include "core/secret_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 9> kSecretWords = {"TOKEN", "SECRET", "PASS",   "PWD", "KEY",
                                                          "CRED",  "AUTH",   "COOKIE", "CERT"};

}  // namespace

bool is_secret_name(std::string_view name) {
  const std::string capitals = to_upper(name);
  return std::ranges::any_of(kSecretWords, [&](std::string_view word) {
    return capitals.find(word) != std::string::npos;
  });
}

bool has_credentials(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

}  // namespace bench
