#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "core/error.h"
#include "devices/host/host_device.h"
#include "probes/data/decode/jpeg.h"
#include "probes/data/loader/torch_loader.h"
#include "tests/probes/data/slow_sets.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

struct LoaderJob : ProbeJob {
  TemporaryDirectory folder = {};

  explicit LoaderJob(Json params) : ProbeJob("data_loader", params) {
    job.params.own()["directory"] = folder.path().string();
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

TEST_CASE("on a crowded machine nothing that a loader reports is clean, but what is in memory") {
  LoaderJob job(small({{"num_workers", 1}, {"sweep", true}, {"steps", {0.001}}}));
  job.crowd();
  REQUIRE(job.run().status == Status::ok);
  CHECK_FALSE(job.of("stall").empty());
  CHECK(job.clean_metrics() == std::set<std::string>{"resident_share"});
}

TEST_CASE("a loader's rate, cost and limits are reported") {
  LoaderJob job(small({{"num_workers", 2}, {"prefetch_factor", 3}}));
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  REQUIRE(outcome.status == Status::ok);
  CHECK(job.of("samples_per_second").at(0).values.size() == 10);
  const double rate = job.only("samples_per_cpu_second");
  CHECK(rate > 0.0);
  CHECK(job.of("samples_per_cpu_second")[0].check->passed());
  const double of_stages = job.only("of_stages");
  CHECK(of_stages > 0.02);  // of batches of some microseconds
  CHECK(of_stages <= 1.05);
  const Json facts = job.facts();
  CHECK(facts.at("samples") == 100);
  // The CPU's, and that of memory unless these small batches exceeded it in the caches.
  CHECK(facts.at("limits").size() + facts.count("memory_limit") >= 2);
  double before = 0.0;
  for (const Json& limit : facts.at("limits")) {
    CHECK(limit.at("samples_per_second").get<double>() >= before);
    before = limit.at("samples_per_second").get<double>();
  }
  CHECK(facts.at("from_memory") == true);
  CHECK(facts.at("host").contains("disturbed"));
  CHECK_FALSE(facts.contains("pytorch_factor"));
}

TEST_CASE("the factor over PyTorch is reported only if PyTorch was measured") {
  LoaderJob job(small({{"pytorch", 1000.0}}));
  job.run();
  const double factor = job.only("samples_per_cpu_second") / 1000.0;
  CHECK(job.only("pytorch_factor") == Approx(factor));
  CHECK(job.facts().at("pytorch_factor").get<double>() == Approx(factor));
}

/// A program in the place of a Python.
std::string python_that(const LoaderJob& job, const std::string& does) {
  const auto path = job.folder.path() / "python";
  std::ofstream(path) << "#!/bin/sh\n" << does << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path.string();
}

TEST_CASE("PyTorch's loader runs on the same data if a Python is given") {
  LoaderJob job(small({{"pipeline", "tokens"}, {"sequence", 32}}));
  const std::string answer = R"({\"pytorch\": \"2.9\", \"samples_per_cpu_second\": 500})";
  job.job.params.own()["pytorch_python"] = python_that(
      job, "echo chatter; echo \"$@\" > \"$(dirname \"$0\")/said\"; echo \"" + answer + "\"");
  REQUIRE(job.run().status == Status::ok);
  const Json facts = job.facts();
  CHECK(facts.at("pytorch_version") == "2.9");
  CHECK(job.only("pytorch_factor") == Approx(job.only("samples_per_cpu_second") / 500.0));
  const std::string said = read_file(job.folder.path() / "said");
  CHECK_THAT(said, Catch::Contains("torch_loader.py " + facts.at("data").get<std::string>() +
                                   " --pipeline tokens --batch-size 10"));
}

TEST_CASE("no factor over PyTorch is reported if it is missing, fails, or has no such loader") {
  const auto reason = [](const Json& params, const std::string& does) {
    LoaderJob job(small(params));
    job.job.params.own()["pytorch_python"] =
        does.empty() ? "/nonexistent/python" : python_that(job, does);
    CHECK(job.run().status == Status::ok);
    REQUIRE(job.of("pytorch_factor").size() == 1);
    CHECK_FALSE(job.facts().contains("pytorch_factor"));
    return job.of("pytorch_factor")[0].reason;
  };
  const Json tokens = {{"pipeline", "tokens"}, {"sequence", 32}};
  CHECK_THAT(reason(tokens, ""), Catch::Contains("start /nonexistent/python"));
  CHECK_THAT(reason(tokens, "echo no torch >&2; exit 3"),
             Catch::Contains("exit code 3; output: no torch"));
  CHECK_THAT(reason(tokens, "echo hello"), Catch::Contains("reported no rate"));
  CHECK_THAT(reason(Json::object(), "exit 0"), Catch::Contains("the pipeline raw"));
}

TEST_CASE("only a positive number is accepted as the rate of PyTorch's loader") {
  const auto rate =
      data::read_torch_answer(R"({"pytorch": "2.9", "samples_per_cpu_second": 12.5})");
  CHECK(rate.samples_per_cpu_second == 12.5);
  for (const char* text :
       {"", "[]", "{", "12", R"({"pytorch": "2.9"})", R"({"samples_per_cpu_second": 1})",
        R"({"pytorch": "2", "samples_per_cpu_second": 0})",
        R"({"pytorch": "2", "samples_per_cpu_second": null})",
        R"({"pytorch": "2", "samples_per_cpu_second": "1"})"}) {
    INFO(text);
    CHECK_FALSE(data::read_torch_answer(text).samples_per_cpu_second);
    CHECK_THAT(data::read_torch_answer(text).reason, Catch::Contains("reported no rate"));
  }
}

Json uploaded(const char* transfer, bool pinned) {
  return small({{"num_workers", 2},
                {"pipeline", "synthetic"},
                {"steps", {0.01}},
                {"time_s", 0.02},
                {"transfer", transfer},
                {"pin_memory", pinned}});
}

TEST_CASE("transfers to the device are part of the loop, during the step or before it") {
  data::SlowCopies copies(0.005);
  const auto exposed = [&](const char* transfer, bool pinned) {
    LoaderJob job(uploaded(transfer, pinned));
    job.device.fake_copies = &copies;
    CHECK(job.run().status == Status::ok);
    CHECK(job.of("transfer_time").at(0).values.at(0) >= 0.005);
    return job.only("exposed_transfer");
  };
  CHECK(exposed("overlapped", true) < 0.15);
  CHECK(copies.most_locked > 0);
  CHECK(copies.locked == 0);
  CHECK(exposed("blocking", false) > 0.2);
}

TEST_CASE("a batch corrupted on its way to the device makes the job invalid") {
  data::SlowCopies copies(0.0);
  copies.damages = true;
  LoaderJob job(uploaded("overlapped", true));
  job.device.fake_copies = &copies;
  const Outcome outcome = job.run();
  CHECK(outcome.status == Status::invalid);
  CHECK_THAT(outcome.reason, Catch::Contains("were corrupted on the way to the device"));
}

TEST_CASE("without a device the transfer series is skipped, if it was requested") {
  LoaderJob job(uploaded("overlapped", false)), none(uploaded("none", false));
  job.run();
  none.run();
  CHECK_THAT(job.of("exposed_transfer").at(0).reason, Catch::Contains("shares host memory"));
  CHECK(none.of("exposed_transfer").empty());
}

TEST_CASE("a sweep recommends the smallest worker count that is fast enough") {
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

TEST_CASE("steps are predicted and measured, presets only predicted") {
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
  CHECK(job.only("fluid_stall") == Approx(step.at("fluid_stall").get<double>()));
  CHECK(step.at("verdict") == (judged ? "comparable" : "inconclusive"));
  CHECK(job.of("prediction_error").at(0).outcome == (judged ? Status::ok : Status::skipped));
}

TEST_CASE("computing steps are skipped with the reason if the device has no GEMM") {
  LoaderJob job(small({{"steps", {0.01}}, {"step", "gemm"}}));
  CHECK(job.run().status == Status::ok);
  CHECK(job.of("stall").at(0).reason == "no GEMM library for this device");
}

TEST_CASE("computing steps have the requested length and are verified") {
  LoaderJob job(small({{"num_workers", 1}, {"steps", {0.02}}, {"step", "gemm"}}));
  const auto host = make_host_device();
  if (host->gemm() == nullptr) return;
  const Outcome outcome = job.run_on(*host, *job.group);
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  CHECK(job.facts().at("steps").at(0).at("length_s").get<double>() == Approx(0.02).epsilon(0.5));
  CHECK(job.only("accelerator_use") > 0.2);
}

TEST_CASE("a data set that is missing or smaller than a batch is an error") {
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
