// Which libraries this program measures with, and their versions: a number means little without
// them.
#pragma once

#include "core/json.h"

namespace bench {

/// {"onednn": "2.6.3", "openblas": "OpenBLAS 0.3.21 ...", "hwloc": "2.9.0"}; null for one left out
/// at build.
Json host_library_versions();

}  // namespace bench
