#include "runner/user_folders.h"

#include <cstdlib>

namespace bench {
namespace fs = std::filesystem;

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path user_folder(const char* variable, const char* below_home) {
  if (fs::path named = environment_variable(variable); named.is_absolute()) return named;
  const fs::path home = environment_variable("HOME");
  return home.empty() ? fs::path() : home / below_home;
}

}  // namespace bench
