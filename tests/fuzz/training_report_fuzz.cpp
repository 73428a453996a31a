// Hostile records of a training: reported as far as they can be read, in every form, and never a
// crash, markup from outside, or a time that a run did not reach.
#include <cstdint>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/json_fields.h"
#include "results/training/measured_peak.h"
#include "results/training/mllog_files.h"
#include "results/training/training_output.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::Json;
using bench::fuzz::demand;

/// Two jobs of equal records, of which the first has them all.
bench::RunRecords run_of(const Json& input) {
  bench::RunRecords run;
  run.run = bench::text_field(input, "run");
  for (const char* id : {"a", "b"}) {
    bench::PlannedJob job;
    job.id = id;
    job.probe = "training";
    job.params = bench::field(input, "params");
    job.ranks = static_cast<int>(bench::integer_field(input, "ranks") % 1000);
    job.hosts = {"node1"};
    run.jobs.push_back(job);
    const auto add = [&](auto body) { run.records.push_back({id, "node1", 0, 1, body}); };
    for (const char* name : {"curve", "breakdown", "memory"})
      add(bench::Chunk{name, bench::field(input, name)});
    add(bench::Event{bench::kMllogEvent, bench::field(input, "mllog")});
    add(bench::Facts{"training", bench::field(input, "facts")});
    add(bench::Outcome{bench::Status::ok, bench::text_field(input, "reason"), 1.0});
  }
  run.jobs.back().ranks = 2;
  return run;
}

void check_forms(const bench::TrainingReport& report) {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("report_training"));
  const Json json = to_json(report);
  try {
    schema.check(Json::parse(bench::dump(json)), "report");
  } catch (const bench::Error& error) {
    demand(false, error.what());
  }
  for (const Json& run : json["runs"])
    demand(run["converged"] == true || run["seconds_to_target"].is_null(), bench::dump(run));
  to_text(report, {false, true, 80});
  const std::string page = to_html(report);
  demand(page.find("<script") == std::string::npos, page);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<bench::RunRecords> runs = {run_of(bench::parse_json(text, "fuzz"))};
  check_forms(make_training_report(runs, [](const bench::TrainingSetup& setup) {
    return measured_peak(setup, [](const std::string&, const std::string&) {
      return std::vector<bench::SeriesRow>{
          {"run", "host", {{"dtype", "f32"}, {"threads", 2}}, 1.0}};
    });
  }));
  bench::mllog_texts(runs);
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
  return 0;
}
