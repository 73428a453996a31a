// The probe `training` on files that a job names.
#include "probes/training/training_data.h"

#include <cstdint>
#include <vector>

#include "tests/probes/training_job.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/training_files.h"
#include "training/workloads/dlrm_data.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

/// nanoGPT's: tokens alone.
void write_tokens(const std::filesystem::path& path, std::size_t count) {
  std::vector<std::uint16_t> tokens(count);
  for (std::size_t i = 0; i < count; ++i) tokens[i] = static_cast<std::uint16_t>(i * i % 61);
  training::write_file(path, training::raw(tokens));
}

struct TokenFolder {
  TemporaryDirectory folder;
  std::filesystem::path path = folder.path();
  TokenFolder() {
    write_tokens(path / "train.bin", 8001);
    write_tokens(path / "val.bin", 1001);
    training::write_file(path / "meta.pkl", "no tokens");
  }
  Json params(const Json& more) const {
    Json all = {{"data", path.string()}, {"vocabulary", 61}, {"lanes", 1}};
    all.update(more);
    return all;
  }
};

}  // namespace

TEST_CASE("files in a folder are assigned by name, and the run records its training data") {
  const TokenFolder tokens;
  TrainingJob job(tokens.params({{"target", 4.5}}));  // above log(61): met at once
  const Outcome outcome = job.run();
  INFO(outcome.reason);
  CHECK(outcome.status == Status::ok);
  const Json facts = job.facts();
  CHECK(facts.at("data").at("files") == Json{(tokens.path / "train.bin").string()});
  CHECK(facts.at("data").at("evaluation_files") == Json{(tokens.path / "val.bin").string()});
  CHECK(facts.at("data").at("samples") == 125);
  CHECK(facts.at("floor_kind") == "bound");
  CHECK(facts.at("target_source") == "given");
  CHECK(facts.at("converged") == true);
  CHECK(facts.at("epochs").get<double>() == Approx(40 * 32 / 125.0));
  CHECK(facts.at("quality") == facts.at("native"));
  const Json cache = job.lines("cache_clear").at(0);
  CHECK(cache.at("value") == facts.at("cache").at("cleared"));
  CHECK(cache.at("metadata").at("resident_share").get<double>() <= 1.0);
}

TEST_CASE("training files are not used for evaluation, and a log in arrays is one file") {
  TemporaryDirectory folder;
  for (const char* name : {"latest_train_dense.npy", "latest_train_sparse_multi_hot.npz",
                           "latest_train_labels.npy", "interval_dense.npy", "other_dense.npy"})
    training::write_file(folder.path() / name, "");
  TrainingJob job(Json{{"workload", "dlrm"}, {"data", folder.path().string()}});
  const State state(job.job, find_probe("training"), job.device, *job.group, job.sink);
  const training::DataChoice data = training_data(state);
  using Files = std::vector<std::filesystem::path>;
  CHECK(data.train == Files{folder.path() / "latest_train_dense.npy"});
  CHECK(data.evaluation == Files{folder.path() / "interval_dense.npy"});
  CHECK(training::files_of_log(data.train[0]) ==
        Files{data.train[0], folder.path() / "latest_train_sparse_multi_hot.npz",
              folder.path() / "latest_train_labels.npy"});
}

TEST_CASE("without a target a run on files ends at its horizon and reports that none is known") {
  const TokenFolder tokens;
  TrainingJob job(tokens.params({{"steps", 4}}));
  CHECK(job.run().status == Status::ok);
  CHECK(job.facts().at("target").is_null());
  CHECK(job.facts().at("target_source") == "none");
  CHECK(job.facts().at("data").at("kind") == "files");
}

TEST_CASE("unsuitable training data are refused with what to do") {
  const TokenFolder tokens;
  const auto trains = [](const Json& params) { return TrainingJob(params).run(); };
  CHECK_THROWS_WITH(trains({{"evaluation_data", "/x"}}), Contains("evaluation_data is /x"));
  CHECK_THROWS_WITH(trains({{"data", "/no/such/file"}}), Contains("/no/such/file"));
  CHECK_THROWS_WITH(trains(tokens.params({{"vocabulary", 0}})),
                    Contains("does not state its vocabulary"));
  CHECK_THROWS_WITH(trains(tokens.params({{"vocabulary", 60}})), Contains("token 60 at offset"));
  CHECK_THROWS_WITH(trains(tokens.params({{"data", (tokens.path / "train.bin").string()}})),
                    Contains("no evaluation data"));
  std::filesystem::rename(tokens.path / "train.bin", tokens.path / "part.bin");
  CHECK_THROWS_WITH(trains(tokens.params(Json::object())),
                    Contains("no file ending in .bin has 'train'"));
}

}  // namespace bench
