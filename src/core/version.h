// Version of this build: "0.1.0+1a2b3c4". Both programs must have the same.
#pragma once

#include <string_view>

namespace bench {

std::string_view version();

}  // namespace bench
