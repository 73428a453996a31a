// The description of a system of round 3.0: systems/SYSTEM.yaml.
#pragma once

#include "mlperf/storage/leaf_files.h"
#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {

/// Fields that are missing or have other values than they may, racks that do not add up, product
/// nodes that are missing: rules 2.1.7 and 2.1.8. `name` is that of the file.
void check_system_file(Subject& subject, const JsonFile& file, const std::string& name);

/// Whether the hosts and their memory in a run's summary are those of the description: rule 2.1.9.
void check_clients(Subject& subject, const LoadedLeaf& run, const Json& description);

/// Whether the description denies what a checkpointing needs of the system: rule 4.7.4.
void check_sharing(Subject& subject, const JsonFile& description);

}  // namespace bench::mlperf::storage
