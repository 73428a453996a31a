// Replaces the placeholders that training scripts leave in logs.
#include <algorithm>
#include <string_view>

#include "core/json.h"
#include "core/mllog.h"
#include "results/mlperf/package/package.h"

namespace bench::mlperf {
namespace {

struct Placeholder {
  std::string_view key, value;  // as logged, with quotes
};
constexpr Placeholder kOrganisation{"\"submission_org\"", "\"SUBMISSION_ORG_PLACEHOLDER\""};
constexpr Placeholder kPlatform{"\"submission_platform\"", "\"SUBMISSION_PLATFORM_PLACEHOLDER\""};

/// Only after the token and the key.
bool fill(std::string& line, const Placeholder& placeholder, const std::string& name) {
  const std::size_t token = line.rfind(kMllogToken);
  if (token == std::string::npos) return false;
  const std::size_t key = line.find(placeholder.key, token);
  if (key == std::string::npos) return false;
  const std::size_t value = line.find(placeholder.value, key);
  if (value == std::string::npos) return false;
  line.replace(value, placeholder.value.size(), dump(Json(name)));
  return true;
}

}  // namespace

std::string replace_placeholders(const std::string& log, const std::string& submitter,
                       const std::string& system, std::size_t& filled) {
  std::string text;
  text.reserve(log.size());
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find_first_of("\n\r", begin), log.size() - 1) + 1;
    std::string line = log.substr(begin, end - begin);
    begin = end;
    if (line.find("_PLACEHOLDER\"") != std::string::npos &&
        (fill(line, kOrganisation, submitter) || fill(line, kPlatform, system)))
      ++filled;
    text += line;
  }
  return text;
}

}  // namespace bench::mlperf
