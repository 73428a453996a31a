// How many accelerators a system has, by its description in systems/SYSTEM.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bench::mlperf {

/// number_of_nodes times accelerators_per_node, which are texts of numbers as a rule. Nothing where
/// the file cannot be read, says otherwise, or describes nodes of several kinds.
std::optional<std::int64_t> accelerators_of(const std::filesystem::path& system_file);

}  // namespace bench::mlperf
