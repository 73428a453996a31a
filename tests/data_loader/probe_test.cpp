#include <algorithm>
#include <string>

#include "core/error.h"
#include "probes/data/decode/jpeg.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

struct LoaderJob : ProbeJob {
  TemporaryDirectory folder = {};

  explicit LoaderJob(Json params) : ProbeJob("data_loader", params) {
    job.params["directory"] = folder.path().string();
    job.seed = 5;
  }
  Json facts() const {
    for (const Record& record : sink.records)
      if (const auto* facts = std::get_if<Facts>(&record.body)) return facts->facts;
    return nullptr;
  }
  double only(const std::string& metric) const {
    const auto found = of(metric);
    REQUIRE(found.size() == 1);
    return found[0].values.at(0);
  }
};

Json small(Json params) {
  Json all = {{"pipeline", "raw"}, {"dataset_bytes", 400'000}, {"sample_bytes", 4000},
              {"batch_size", 10},  {"time_s", 0.02},           {"cold", false}};
  all.update(params);
  return all;
}

TEST_CASE("a loader's rate, cost and limits are told") {
  LoaderJob job(small({{"num_workers", 2}, {"prefetch_factor", 3}}));
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  REQUIRE(outcome.status == Status::ok);
  CHECK(job.of("samples_per_second").at(0).values.size() == 10);
  const double rate = job.only("samples_per_cpu_second");
  CHECK(rate > 0.0);
  CHECK(job.of("samples_per_cpu_second")[0].check->passed());
  const double of_stages = job.only("of_stages");
  CHECK(of_stages > 0.3);
  CHECK(of_stages <= 1.0);
  const Json facts = job.facts();
  CHECK(facts.at("samples") == 100);
  CHECK(facts.at("limits").size() >= 2);
  double before = 0.0;
  for (const Json& limit : facts.at("limits")) {
    CHECK(limit.at("samples_per_second").get<double>() >= before);
    before = limit.at("samples_per_second").get<double>();
  }
  CHECK(facts.at("from_memory") == true);
  CHECK(facts.at("host").contains("disturbed"));
  CHECK_FALSE(facts.contains("pytorch_factor"));
}

TEST_CASE("a factor over PyTorch is told where one was measured, and never else") {
  LoaderJob job(small({{"pytorch", 1000.0}}));
  job.run();
  CHECK(job.facts().at("pytorch_factor").get<double>() ==
        Approx(job.only("samples_per_cpu_second") / 1000.0));
}

TEST_CASE("a sweep recommends the least of the numbers it tried that is fast enough") {
  LoaderJob job(small({{"sweep", true}}));
  REQUIRE(job.run().status == Status::ok);
  const Json facts = job.facts();
  double fastest = 0.0;
  for (const Json& point : facts.at("sweep"))
    fastest = std::max(fastest, point.at("samples_per_second").get<double>());
  for (const Json& point : facts.at("sweep"))
    if (point.at("num_workers") < facts.at("recommended_workers"))
      CHECK(point.at("samples_per_second").get<double>() < 0.95 * fastest);
  CHECK(job.only("recommended_workers") == facts.at("recommended_workers").get<double>());
}

TEST_CASE("steps are foretold and measured, and presets foretold") {
  LoaderJob job(small({{"num_workers", 1}, {"steps", {0.01}}, {"presets", {"resnet50_h100"}}}));
  REQUIRE(job.run().status == Status::ok);
  // Small records from memory are made in far less than ten milliseconds.
  CHECK(job.only("stall") < 0.2);
  const double use = job.only("accelerator_use"), oversleep = job.only("oversleep");
  CHECK(use + oversleep + job.only("stall") <= 1.0 + 1e-9);
  CHECK(job.of("wait").at(0).values.size() >= 20);
  CHECK(job.of("predicted_stall").size() == 2);
  CHECK(job.facts().at("presets").at(0).at("preset") == "resnet50_h100");
  const Json step = job.facts().at("steps").at(0);
  const bool judged = step.at("drift").get<double>() <= 0.05;
  CHECK(step.at("verdict") == (judged ? "comparable" : "inconclusive"));
  CHECK(job.of("prediction_error").at(0).outcome == (judged ? Status::ok : Status::skipped));
}

TEST_CASE("steps that compute are skipped with the reason where the device cannot") {
  LoaderJob job(small({{"steps", {0.01}}, {"step", "gemm"}}));
  CHECK(job.run().status == Status::ok);
  CHECK(job.of("stall").at(0).reason == "this device has no matrix library");
}

TEST_CASE("steps that compute are as long as asked for, and verified") {
  LoaderJob job(small({{"num_workers", 1}, {"steps", {0.02}}, {"step", "gemm"}}));
  const auto host = make_host_device();
  if (host->gemm() == nullptr) return;
  State state(job.job, find_probe("data_loader"), *host, *job.group, job.sink);
  find_probe("data_loader").run(state);
  const Outcome outcome = state.finish();
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  CHECK(job.facts().at("steps").at(0).at("length_s").get<double>() == Approx(0.02).epsilon(0.5));
  CHECK(job.only("accelerator_use") > 0.2);
}

TEST_CASE("a data set smaller than a batch, and one that is not there, fail with what to do") {
  LoaderJob job(small({{"batch_size", 1000}}));
  CHECK_THROWS_AS(job.run(), Error);
  LoaderJob none(small({{"data", "/nonexistent"}}));
  CHECK_THROWS_AS(none.run(), Error);
}

TEST_CASE("every pipeline of images, tokens and clicks runs through the probe") {
  for (const char* pipeline :
       {"jpeg_folder", "tar", "records", "tokens", "criteo_tsv", "criteo_binary", "synthetic"}) {
    INFO(pipeline);
    LoaderJob job(small({{"pipeline", pipeline},
                         {"image_size", {40, 30}},
                         {"output_size", 16},
                         {"sequence", 32},
                         {"num_workers", 1},
                         {"cold", pipeline == std::string("tokens")}}));
    const Outcome outcome = job.run();
    INFO(outcome.reason);
    const bool without = outcome.status == Status::skipped && outcome.reason == data::no_jpeg();
    CHECK((outcome.status == Status::ok || without));
  }
}

}  // namespace
}  // namespace bench
