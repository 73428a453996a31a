// Topologies of real machines that hwloc saved as XML. They are other people's data and lie
// alongside the checkout; without them the tests that need them say so and pass.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/catch.h"

namespace bench {

/// ctest starts the tests in the root of the source tree.
inline const std::filesystem::path kMachines = "../shared/data/topology";

inline bool available(const std::string& name) {
  if (std::filesystem::exists(kMachines / name)) return true;
  WARN("skipped: there is no " << (kMachines / name).string());
  return false;
}

}  // namespace bench
