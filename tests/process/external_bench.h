// Jobs of the probe `external` under a real bench-rank, with the fake trainer as their command.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/schema.h"
#include "runner/launch/process.h"
#include "tests/process/rank_bench.h"
#include "tests/support/catch.h"

namespace bench {

inline std::string beside(const std::string& name) { return (program_folder() / name).string(); }

inline const std::vector<std::string> kGood = {"init", "start", "eval=100:0.5", "eval=200:0.8",
                                               "stop=success"};

struct ExternalBench {
  RankBench bench;
  PlanEntry job;

  explicit ExternalBench(const std::vector<std::string>& words, Json params = Json::object()) {
    bench.site.rank_program = beside("bench-rank");
    bench.site.root = true;
    bench.site.run_folder = bench.directory.path().string();
    bench.site.token = bench.directory.id();
    params["argv"] = {beside("fake_trainer")};
    for (const std::string& word : words) params["argv"].push_back(word);
    params.emplace("target", 0.75);
    params.emplace("grace_s", 0.3);
    const Schema schema = Schema::load("schemas/probes/external.json");
    job = entry("01.external", schema.check(params, "test"), 20.0);
    job.job.probe = "external";
    job.job.binding = "none";
  }

  Outcome run() {
    bench.run({job});
    return bench.outcome("01.external");
  }

  Json facts() const {
    for (const Record& record : bench.records())
      if (const auto* facts = std::get_if<Facts>(&record.body); facts && facts->topic == "training")
        return facts->facts;
    return nullptr;
  }

  Samples series(const std::string& metric) const {
    for (const Record& record : bench.records())
      if (const auto* samples = std::get_if<Samples>(&record.body);
          samples && samples->metric == metric)
        return *samples;
    Samples none;
    none.outcome = Status::failed;
    none.reason = "there is none";
    return none;
  }

  Json chunk(const std::string& name) const {
    for (const Record& record : bench.records())
      if (const auto* chunk = std::get_if<Chunk>(&record.body); chunk && chunk->name == name)
        return chunk->columns;
    return nullptr;
  }

  std::string log(int rank = 0) const {
    return read_file(bench.directory.path() / "external" / "01.external" /
                     ("rank-000" + std::to_string(rank) + ".log"));
  }

  /// Of every kind of end: the job has no time to the target.
  void check_no_time() const {
    const Samples time = series("time_to_target");
    CHECK(to_string(time.outcome) == "skipped");
    CHECK_FALSE(time.reason.empty());
    CHECK(facts().at("converged") == false);
  }
};

inline void check_end(const std::vector<std::string>& words, Status status,
                      const std::string& reason, const Json& params = Json::object()) {
  ExternalBench external(words, params);
  const Outcome outcome = external.run();
  INFO(outcome.reason);
  CHECK(to_string(outcome.status) == to_string(status));
  CHECK_THAT(outcome.reason, Catch::Matchers::Contains(reason));
  external.check_no_time();
  CHECK(external.bench.seconds < 8.0);
}

inline bool has_mpirun(ExternalBench& external) try {
  external.bench.site.mpirun = find_program("mpirun");
  return true;
} catch (const Error&) {
  WARN("not checked: no mpirun");
  return false;
}

}  // namespace bench
