// Values of environment variables that may be secret. Plans, records, reports and command lines
// have a hash in their place; the value itself reaches a rank in the launcher's environment, or
// with the job over stdin.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/job.h"

namespace bench {

using Variables = std::map<std::string, std::string>;
/// Hash -> value.
using Secrets = std::map<std::string, std::string>;

/// "sha256:" and 16 hexadecimal digits: enough to see whether two runs had the same value.
std::string secret_hash(std::string_view value);
bool is_secret_hash(std::string_view text);

/// Replaces values of variables that look secret (core/secret_names.h) by hashes; values that are
/// hashes stay.
void hide_secrets(Variables& env, Secrets& secrets);
/// The same in the probe `external`'s parameters `environment` and `variables`.
void hide_secrets(Json& params, Secrets& secrets);
/// The texts without any of the values, for command lines that are stored.
Json without_secrets(const Json& texts, const Secrets& secrets);

/// Puts values back. Throws Error(input) naming a variable whose value is not known.
void reveal_secrets(Variables& env, const Secrets& secrets);
Job with_secrets(Job job, const Secrets& secrets);
/// Throws what with_secrets() would.
void check_secrets(const Job& job, const Secrets& secrets);

/// `known`, and what our own environment has, such as HF_TOKEN or what CarriedSecrets put there.
Secrets secrets_here(Secrets known);
/// Passes secrets to a benchctl that a batch system starts, in our environment while this exists:
/// BENCHCTL_SECRET_0=..., which secrets_here() removes again, so that ranks do not inherit them.
class CarriedSecrets {
 public:
  explicit CarriedSecrets(const Secrets& secrets);
  ~CarriedSecrets();
  CarriedSecrets(const CarriedSecrets&) = delete;
  CarriedSecrets& operator=(const CarriedSecrets&) = delete;

 private:
  std::vector<std::string> names_;
};

}  // namespace bench
