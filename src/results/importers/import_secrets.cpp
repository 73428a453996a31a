#include "results/importers/import_secrets.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::array kHarmless = {
    std::string_view("NCCL_"), std::string_view("CUDA_"),    std::string_view("UCX_"),
    std::string_view("FI_"),   std::string_view("OMPI_"),    std::string_view("RCCL_"),
    std::string_view("OMP_"),  std::string_view("NVSHMEM_"), std::string_view("HSA_")};

constexpr std::array kSuspicious = {
    std::string_view("TOKEN"),  std::string_view("PASS"), std::string_view("SECRET"),
    std::string_view("KEY"),    std::string_view("CRED"), std::string_view("AUTH"),
    std::string_view("COOKIE"), std::string_view("CERT"), std::string_view("PWD")};

std::string to_upper(std::string_view text) {
  std::string capitals(text);
  std::ranges::transform(capitals, capitals.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return capitals;
}

bool has_suspicious_word(std::string_view text) {
  const std::string capitals = to_upper(text);
  return std::ranges::any_of(
      kSuspicious, [&](std::string_view word) { return capitals.find(word) != std::string::npos; });
}

}  // namespace

bool looks_secret(std::string_view name, std::string_view value) {
  if (has_suspicious_word(name) || has_suspicious_word(value)) return true;
  const std::size_t scheme = value.find("://");  // https://user:password@host
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

KeptEnvironment harmless_environment(const Json& list, const std::string& origin) {
  if (!list.is_array()) throw Error(ErrorKind::input, origin + ": /env is not an array");
  KeptEnvironment kept;
  for (const Json& one : list) {
    if (!one.is_string()) throw Error(ErrorKind::input, origin + ": /env must hold strings");
    const auto& text = one.get_ref<const std::string&>();
    const std::size_t equals = text.find('=');
    const std::string_view name = std::string_view(text).substr(0, equals);
    const std::string_view value = equals == std::string::npos
                                       ? std::string_view()
                                       : std::string_view(text).substr(equals + 1);
    const bool harmless = std::ranges::any_of(
        kHarmless, [&](std::string_view beginning) { return name.starts_with(beginning); });
    if (harmless && !looks_secret(name, value))
      kept.variables[std::string(name)] = std::string(value);
    else
      ++kept.dropped;
  }
  return kept;
}

}  // namespace bench
