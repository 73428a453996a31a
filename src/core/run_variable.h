// The environment variable that marks every rank of a run, whichever launcher started it: what a
// run left behind on a host is found by it (bench-rank --sweep).
#pragma once

namespace bench {

inline constexpr const char* kRunVariable = "BENCHCTL_RUN";
/// The folder of the run on the machine that benchctl runs on; other hosts may not have it.
inline constexpr const char* kRunFolderVariable = "BENCHCTL_RUN_FOLDER";

}  // namespace bench
