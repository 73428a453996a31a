#include "devices/cuda/library_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace bench {
namespace {

constexpr std::array<std::string_view, 6> kPrefixes = {"NVIDIA_TF32_OVERRIDE=",
                                                       "CUBLAS",
                                                       "CUDNN_",
                                                       "CUDA_LAUNCH_BLOCKING=",
                                                       "CUDA_MODULE_LOADING=",
                                                       "CUDA_DEVICE_MAX_CONNECTIONS="};

}  // namespace

Json library_environment(const char* const* environment) {
  Json found = Json::object();
  for (const char* const* one = environment == nullptr ? environ : environment; *one != nullptr;
       ++one) {
    const std::string_view text = *one;
    const auto begins = [&](std::string_view prefix) { return text.starts_with(prefix); };
    const std::size_t end = text.find('=');
    if (end == std::string_view::npos || std::ranges::none_of(kPrefixes, begins)) continue;
    found[std::string(text.substr(0, end))] = text.substr(end + 1);
  }
  return found;
}

}  // namespace bench
