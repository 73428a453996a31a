// YAML as JSON, for descriptions of systems. By yaml-cpp, which a build may lack.
#pragma once

#include <filesystem>

#include "mlperf/storage/leaf_files.h"

namespace bench::mlperf::storage {

/// Whether this program can read YAML.
bool reads_yaml();

/// Plain scalars become null, booleans and numbers where they look so. Aliases are followed, up to
/// 100,000 values and 16 MiB of text in all. The state is `wrong` for what is no YAML or has
/// several documents.
JsonFile read_yaml_file(const std::filesystem::path& path);

}  // namespace bench::mlperf::storage
