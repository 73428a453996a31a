#include "core/version.h"

#include <version.generated.h>  // scripts/cmake/write_version.cmake

namespace bench {

std::string_view version() { return BENCH_VERSION; }

}  // namespace bench
