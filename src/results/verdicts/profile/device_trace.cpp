#include "results/verdicts/profile/device_trace.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace bench {

DeviceWorkKind kind_of_kernel(const std::string& name) {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 3> kLibraries{"nccl", "rccl", "nvshmem"};
  const bool communicates = std::ranges::any_of(kLibraries, [&](std::string_view library) {
    return lower.find(library) != std::string::npos;
  });
  return communicates ? DeviceWorkKind::communication : DeviceWorkKind::compute;
}

int TraceNames::number_of(const std::string& name, DeviceTrace& trace) {
  const auto [place, added] = numbers_.emplace(name, static_cast<int>(trace.names.size()));
  if (added) trace.names.push_back(name);
  return place->second;
}

}  // namespace bench
