// Fuzzes system descriptions: rejected with an Error, or parsed; then findings, host names, tables
// and scaling reports are safe to print.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "results/import/imported_lines.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/published_comparison_output.h"
#include "results/output/mlperf/published_scaling_output.h"
#include "results/verdicts/published/published_comparison.h"
#include "results/verdicts/published/published_import.h"
#include "results/verdicts/published/published_scaling.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;
using namespace bench::mlperf;

bool is_safe(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 && c != '\n'; });
}

PublishedEntry entry_of(const SystemDescription& system, int nodes, double minutes) {
  PublishedEntry entry;
  entry.submitter = system.submitter;
  entry.system = system.system_name;
  entry.benchmark = system.framework;
  entry.division = system.division;
  entry.description = system;
  if (entry.description.nodes) entry.description.nodes = *system.nodes + nodes;
  for (int i = 0; i < 4; ++i) entry.runs.push_back({"r", true, "", minutes + i, 10.0 + i, 1});
  entry.olympic_minutes = entry.score_minutes = minutes + 1.5;
  entry.samples = 11.5;
  return entry;
}

void report_on(const SystemDescription& system) {
  const std::vector<PublishedEntry> entries = {entry_of(system, 0, 60.0), entry_of(system, 5, 9.0)};
  const PublishedScaling scaling = published_scaling(entries);
  demand(is_safe(to_terminal(to_document(scaling), {})), "a scaling is not safe to print");
  to_page(to_document(scaling));
  bench::dump(to_json(scaling));
  const auto ranked = ranked_benchmarks(entries);
  demand(is_safe(to_terminal(to_document(ranked), {})), "a table is not safe to print");
  to_page(to_document(ranked));
}

void try_system(const std::string& text) try {
  const SystemDescription system = system_description(text, "fuzz");
  demand(bench::is_host_name(host_of_system(system.submitter, system.system_name)),
         "no name of a host: " + host_of_system(system.submitter, system.system_name));
  if (system.accelerators()) demand(*system.accelerators() > 0, "a product is none");
  report_on(system);
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_system(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
