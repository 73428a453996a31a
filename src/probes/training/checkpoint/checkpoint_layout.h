// Constants of a checkpoint's format (checkpoint_file.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace bench::training {

constexpr std::string_view kCheckpointMagic = "BENCHCKP";
constexpr std::uint32_t kCheckpointVersion = 1;
constexpr std::uint64_t kCheckpointFront = 24;  // bytes before the header
constexpr std::uint64_t kSectionAlignment = 64;

constexpr std::uint64_t aligned_section(std::uint64_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

}  // namespace bench::training
