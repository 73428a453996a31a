// What a fuzz target asserts: also in a build without assert().
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench::fuzz {

/// Crashes, which is how a fuzz target says that it found something.
inline void demand(bool held, const std::string& what) {
  if (held) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

}  // namespace bench::fuzz
