// Decides whether what was asked for passed. Every verdict of a run, a night or a report, and every
// exit code that follows from one, is concluded here from counts of what was asked for.
#pragma once

#include <cstddef>

#include "core/error.h"
#include "results/run/gates.h"

namespace bench {

struct Conclusion {
  std::size_t passed = 0;    // judged on clean measurements and not failed
  std::size_t failed = 0;    // a missed gate, a wrong result, a confirmed finding
  std::size_t unjudged = 0;  // asked for, and neither measured clean nor planned to be skipped
  bool interrupted = false;
  bool indexed = true;  // everything measured is in the database

  /// Counts one verdict; inconclusive is unjudged.
  void add(Verdict verdict);

  /// fail if anything failed; inconclusive if something was not judged or nothing passed.
  Verdict verdict() const;
  /// 130 if interrupted, 1 for fail, 3 for inconclusive, 4 if not indexed, else 0.
  ExitCode exit_code() const;
};

}  // namespace bench
