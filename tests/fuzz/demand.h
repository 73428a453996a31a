// What a fuzz target asserts: also in a build without assert().
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/error.h"

namespace bench::fuzz {

/// Crashes, which is how a fuzz target says that it found something.
inline void demand(bool held, const std::string& what) {
  if (held) return;
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

/// Runs `read`, which may refuse its input, but only with Error(input).
template <class Read>
void may_refuse(Read read) try {
  read();
} catch (const Error& error) {
  demand(error.kind() == ErrorKind::input, error.what());
}

/// Runs `again` on what was accepted: an Error is a crash.
template <class Again>
void must_accept(const std::string& what, Again again) try {
  again();
} catch (const Error& error) {
  demand(false, what + " is refused: " + error.what());
}

}  // namespace bench::fuzz
