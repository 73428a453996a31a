// Which N of M > N runs are scored (MLPerf training rules, "Scoring"): the runs are sorted by
// launch, each N in a row are scored, and the N with the median score are the submission.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench::mlperf {

struct RunWindow {
  std::vector<std::size_t> runs = {};  // chosen, in the order of their launch
  std::size_t first = 0;               // number of the window, from 0
  std::vector<double> means = {};      // olympic, of every window; infinite for an invalid one
};

/// `launch_ms`: when each run began; runs without a time (NaN) come last. `minutes`: infinity for a
/// run that failed. `count`: at least 1 and at most as many as there are runs. Of an even number of
/// windows the slower one of the middle two is taken: the rules ask for the one closest to the
/// median, and both are as close. Equal means: the earlier window.
RunWindow median_window(std::span<const double> launch_ms, std::span<const double> minutes,
                        std::size_t count);

}  // namespace bench::mlperf
