// Selects N of M > N runs (MLPerf training rules, "Scoring"): sorts the runs by launch, scores each
// window of N consecutive runs, and takes the window with the median score.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench::mlperf {

struct RunWindow {
  std::vector<std::size_t> runs = {};  // selected runs in launch order
  std::size_t first = 0;               // index of the window, from 0
  std::vector<double> means = {};      // olympic mean of every window; infinite for an invalid one
};

/// `launch_ms`: launch time of each run; runs without one (NaN) come last. `minutes`: infinity for
/// a failed run. `count`: from 1 to the number of runs. With an even number of windows, takes the
/// slower of the middle two: the rules ask for the one closest to the median, and both are equally
/// close. On a tie, the earlier window.
RunWindow median_window(std::span<const double> launch_ms, std::span<const double> minutes,
                        std::size_t count);

}  // namespace bench::mlperf
