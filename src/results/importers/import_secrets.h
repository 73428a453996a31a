// What of a dumped environment may be kept.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace bench {

/// Variables that explain a result (NCCL_, CUDA_, UCX_, OMPI_MCA_, OMP_, ...), without names or
/// values that look like secrets. An allow list, as a token in an unknown variable cannot be
/// recognised.
struct KeptEnvironment {
  Json variables = Json::object();
  std::size_t dropped = 0;
};

/// `list` is an array of "NAME=value". Throws Error(input) for anything else.
KeptEnvironment harmless_environment(const Json& list, const std::string& origin);

/// A name or a value that may be a secret: TOKEN, PASSWORD, KEY, CREDENTIAL, ... or user:pass@.
bool looks_secret(std::string_view name, std::string_view value);

}  // namespace bench
