// Hostile suites and jobs: refused with an Error, or a plan can be made of them.
#include <cstdint>

#include "core/error.h"
#include "core/job.h"
#include "core/locations.h"
#include "core/schema.h"
#include "runner/plan/plan_json.h"
#include "runner/plan/suite.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

/// Whether a plan of it is quick to make; large ones are allowed but teach nothing here.
bool is_small(const bench::Suite& suite) {
  std::size_t values = 0;
  for (const bench::Case& suite_case : suite.cases) {
    values += static_cast<std::size_t>(suite_case.repeat);
    for (const auto& [name, axis] : suite_case.axes) values += axis.size();
  }
  return values < 20;
}

void try_suite(const std::string& text) try {
  static const auto catalogue =
      bench::ProbeCatalogue::load(bench::data_root() / "schemas" / "probes");
  const bench::Suite suite = bench::suite_from_text(text, "fuzz", catalogue);
  if (!is_small(suite)) return;
  const bench::Inventory inventory{
      {{.name = "node01", .address = "", .slots = 4, .devices = {}, .labels = {}}}};
  bench::plan_text(bench::make_plan(suite, inventory, catalogue, {}));
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

void try_job(const std::string& text) try {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("job"));
  const bench::Job job = bench::job_from_json(bench::parse_json(text, "fuzz"));
  const bench::Json json = bench::to_json(job);
  try {
    demand(schema.check(json, "job") == json, "a job changes in its schema: " + bench::dump(json));
    demand(bench::to_json(bench::job_from_json(json)) == json,
           "a job changes: " + bench::dump(json));
  } catch (const bench::Error& error) {
    demand(false, std::string("an accepted job is refused: ") + error.what());
  }
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_suite(text);
  try_job(text);
  return 0;
}
