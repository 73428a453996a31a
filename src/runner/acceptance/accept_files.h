// The files of an acceptance: HTML certificates, JUnit, and a packet for each failed host.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/acceptance/acceptance.h"
#include "runner/plan/planner.h"

namespace bench {

/// Writes index.html and HOST.html files. Throws Error(environment) if one cannot be written.
void write_certificates(const std::filesystem::path& folder, const Acceptance& acceptance);

void write_junit(const std::filesystem::path& file, const Acceptance& acceptance);

/// Writes HOST/packet.json, packet.txt and hosts.json; the latter, for the reproduce command, has
/// the host alone or with the partner that shows the failure. `suite`: name or file.
void write_rma_packets(const std::filesystem::path& folder, const Acceptance& acceptance,
                       const Inventory& inventory, const std::string& suite);

}  // namespace bench
