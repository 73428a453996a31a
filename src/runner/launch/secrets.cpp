#include "runner/launch/secrets.h"

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/child_process.h"
#include "core/error.h"
#include "core/secret_names.h"
#include "core/sha256.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::string_view kMark = "sha256:";
constexpr std::size_t kDigits = 16;
constexpr std::string_view kCarrier = "BENCHCTL_SECRET_";
constexpr std::array kParams = {"environment", "variables"};
// A shorter value would also be found in words that have nothing to do with it.
constexpr std::size_t kShortestSought = 4;

bool looks_secret(const std::string& name, const std::string& value) {
  return !value.empty() && (is_secret_name(name) || has_credentials(value));
}

std::string hidden(const std::string& name, const std::string& value, Secrets& secrets) {
  if (!looks_secret(name, value) || is_secret_hash(value)) return value;
  const std::string hash = secret_hash(value);
  secrets.emplace(hash, value);
  return hash;
}

std::string revealed(const std::string& name, const std::string& value, const Secrets& secrets) {
  if (!is_secret_hash(value)) return value;
  if (const auto found = secrets.find(value); found != secrets.end()) return found->second;
  throw Error(
      ErrorKind::input,
      "the value of '" + printable(name) + "' is unknown: the plan has only its hash " + value,
      "set " + printable(name) + " in the environment to the value that the run had");
}

/// Calls `visit(name, value)` for the variables in the parameters, const or not.
template <class AnyJson, class Visit>
void for_each_variable(AnyJson& params, const Visit& visit) {
  for (const char* param : kParams) {
    const auto found = params.find(param);
    if (found == params.end() || !found->is_object()) continue;
    for (auto item = found->begin(); item != found->end(); ++item)
      if (item->is_string()) visit(item.key(), *item);
  }
}

void replace_all(std::string& text, const std::string& sought, const std::string& other) {
  for (std::size_t at = 0; (at = text.find(sought, at)) != std::string::npos; at += other.size())
    text.replace(at, sought.size(), other);
}

}  // namespace

std::string secret_hash(std::string_view value) {
  return std::string(kMark) + sha256(value).substr(0, kDigits);
}

bool is_secret_hash(std::string_view text) {
  return text.starts_with(kMark) && is_result_hash(std::string(text.substr(kMark.size())));
}

void hide_secrets(Variables& env, Secrets& secrets) {
  for (auto& [name, value] : env) value = hidden(name, value, secrets);
}

void hide_secrets(Json& params, Secrets& secrets) {
  for_each_variable(params, [&](const std::string& name, Json& value) {
    value = hidden(name, value.get<std::string>(), secrets);
  });
}

Json without_secrets(const Json& texts, const Secrets& secrets) {
  Json result = Json::array();
  for (const Json& text : texts) {
    std::string word = text.get<std::string>();
    for (const auto& [hash, value] : secrets) {
      if (value.size() < kShortestSought) continue;
      const std::string quoted = dump(Json(value));
      replace_all(word, value, hash);
      replace_all(word, quoted.substr(1, quoted.size() - 2), hash);
    }
    result.push_back(word);
  }
  return result;
}

void reveal_secrets(Variables& env, const Secrets& secrets) {
  for (auto& [name, value] : env) value = revealed(name, value, secrets);
}

Job with_secrets(Job job, const Secrets& secrets) {
  reveal_secrets(job.env, secrets);
  for_each_variable(job.params.own(), [&](const std::string& name, Json& value) {
    value = revealed(name, value.get<std::string>(), secrets);
  });
  return job;
}

void check_secrets(const Job& job, const Secrets& secrets) {
  for (const auto& [name, value] : job.env) revealed(name, value, secrets);
  for_each_variable(job.params.get(), [&](const std::string& name, const Json& value) {
    revealed(name, value.get<std::string>(), secrets);
  });
}

Secrets secrets_here(Secrets known) {
  for (const auto& [name, value] : current_environment()) {
    if (!looks_secret(name, value)) continue;
    known.emplace(secret_hash(value), value);
    if (name.starts_with(kCarrier)) unsetenv(name.c_str());
  }
  return known;
}

CarriedSecrets::CarriedSecrets(const Secrets& secrets) {
  for (const auto& [hash, value] : secrets) {
    names_.push_back(std::string(kCarrier) + std::to_string(names_.size()));
    setenv(names_.back().c_str(), value.c_str(), 1);
  }
}

CarriedSecrets::~CarriedSecrets() {
  for (const std::string& name : names_) unsetenv(name.c_str());
}

}  // namespace bench
