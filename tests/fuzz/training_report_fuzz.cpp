// Hostile records of trainings, loaders and checkpoints: reported and diagnosed as far as they can
// be read, in every form, and never a crash, markup from outside, or a time that a run did not
// reach.
#include <cstdint>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/page.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/profile_output.h"
#include "results/output/verdicts/training_json.h"
#include "results/output/verdicts/training_output.h"
#include "results/verdicts/training/mllog_files.h"
#include "results/verdicts/training/training_report.h"
#include "tests/fuzz/demand.h"
#include "tests/support/rendered.h"

namespace {

using bench::Json;
using bench::fuzz::demand;

bench::Samples series_of(const Json& input) {
  bench::Samples samples;
  samples.metric = bench::text_field(input, "metric");
  samples.params = bench::object_field(input, "params");
  for (const Json& value : bench::array_field(input, "values"))
    if (value.is_number()) samples.values.push_back(value.get<double>());
  samples.flags.assign(samples.values.size(), bench::kClean);
  return samples;
}

/// A job of another probe, with its facts, its series and what host and GPUs did.
void add_other(bench::RunRecords& run, const char* id, const char* probe, const Json& input) {
  bench::PlannedJob job;
  job.id = job.case_name = id;
  job.probe = probe;
  job.params = bench::field(input, "params");
  job.hosts = {"node1"};
  run.jobs.push_back(job);
  const auto add = [&](auto body) { run.records.push_back({id, "node1", 0, 1, body}); };
  for (const Json& series : bench::array_field(input, "series")) add(series_of(series));
  add(bench::Facts{probe, bench::field(input, probe)});
  for (const char* topic : {"telemetry", "gpus", "device"})
    add(bench::Facts{topic, bench::field(input, topic)});
  add(bench::Outcome{bench::Status::ok, bench::text_field(input, "reason"), 1.0});
}

/// Two jobs of equal records, of which the first has them all.
bench::RunRecords run_of(const Json& input) {
  bench::RunRecords run;
  run.run = "run " + bench::text_field(input, "run");  // never empty: the name of a folder
  for (const char* id : {"a", "b"}) {
    bench::PlannedJob job;
    job.id = id;
    job.probe = "training";
    job.params = bench::field(input, "params");
    job.ranks = static_cast<int>(bench::integer_field(input, "ranks") % 1000);
    job.hosts = {"node1"};
    run.jobs.push_back(job);
    const auto add = [&](auto body) { run.records.push_back({id, "node1", 0, 1, body}); };
    for (const char* name : {"curve", "breakdown", "memory", "profile_steps", "profile_operations",
                             "profile_activities", "profile_gaps", "profile_memory",
                             "profile_owners", "profile_resident", "profile_spans"})
      add(bench::Chunk{name, bench::field(input, name)});
    add(bench::Facts{"profile", bench::field(input, "profile")});
    add(bench::Event{bench::kMllogEvent, bench::field(input, "mllog")});
    add(bench::Facts{"training", bench::field(input, "facts")});
    add(bench::Outcome{bench::Status::ok, bench::text_field(input, "reason"), 1.0});
  }
  run.jobs.back().ranks = 2;
  add_other(run, "l", "data_loader", input);
  add_other(run, "c", "checkpoint", input);
  return run;
}

void keep_to(const bench::Schema& schema, const Json& json) try {
  schema.check(Json::parse(bench::dump(json)), "report");
} catch (const bench::Error& error) {
  demand(false, error.what());
}

void check_run_report(const bench::RunReport& report) {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("report"));
  keep_to(schema, to_json(report));
  const std::string text = to_text(report, {false, true, 80});
  demand(text.find('\033') == std::string::npos, text);
}

void check_forms(const bench::TrainingReport& report) {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("report_training"));
  const Json json = to_json(report);
  keep_to(schema, json);
  static const bench::Schema profiles = bench::Schema::load(bench::schema_path("report_profile"));
  keep_to(profiles, to_json(report.profiles));
  for (const bench::StepProfile& profile : report.profiles) trace_of(profile);
  for (const Json& run : json["runs"])
    demand(run["converged"] == true || run["seconds_to_target"].is_null(), bench::dump(run));
  to_text(report, {false, true, 80});
  const std::string page = to_page(to_document(report));
  demand(page.find("<script") == page.rfind("<script"), page);  // its own
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
  check_run_report(make_run_report(runs.front()));
  bench::mllog_texts(runs);
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
  return 0;
}
