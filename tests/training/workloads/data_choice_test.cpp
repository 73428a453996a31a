// Workloads on files and on samples that repeat.
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "tests/training/training_files.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"
#include "training/workloads/dlrm.h"
#include "training/workloads/llm.h"

namespace bench::training {
using Catch::Matchers::Contains;
namespace {

/// Tokens below 50: each follows from the one before but for one in seven.
std::string made_tokens(std::size_t count, std::uint32_t seed) {
  std::vector<std::uint16_t> tokens;
  for (std::uint32_t at = seed; tokens.size() < count; ++at) {
    const std::uint32_t last = tokens.empty() ? seed : tokens.back();
    tokens.push_back(static_cast<std::uint16_t>(
        (at * 2654435761U >> 16) % 7 == 0 ? (at * 40503U >> 8) % 50 : (last * 3 + 1) % 50));
  }
  return token_file(20240520, tokens);
}

/// A click where the first word is even, and in one of eight others; `lines` of Criteo's text.
std::string made_clicks(std::size_t lines, std::uint32_t seed) {
  std::string text;
  for (std::uint32_t i = 0; i < lines; ++i) {
    const std::uint32_t word = (seed + i) * 2654435761U >> 8;
    const bool click = word % 2 == 0 || (seed + i) % 8 == 0;
    text += click ? "1" : "0";
    for (int n = 0; n < 13; ++n) text += "\t" + std::to_string((word >> n) % 20);
    char digits[9];
    for (std::uint32_t n = 0; n < 26; ++n) {
      std::snprintf(digits, sizeof digits, "%08x", word % 64 + n);
      text += std::string("\t") + digits;
    }
    text += "\n";
  }
  return text;
}

TrainingRun train(Workload& workload, std::int64_t horizon, std::int64_t batch) {
  TrainerOptions options;
  options.recipe = with_batch(workload.recipe(), batch);
  options.recipe.horizon = horizon;
  options.recipe.schedule.horizon = horizon;
  options.recipe.schedule.warmup = 5;
  options.recipe.evaluation_every = horizon / 4;
  options.lanes = 2;
  options.check_every = horizon / 4;
  const KernelFactory kernels = [](Dtype dtype) { return host_kernels(dtype); };
  const auto group = make_self_group();
  Trainer trainer(workload, options, kernels, *group);
  RunObserver nobody;
  return trainer.run(nobody);
}

void check_all_held(const TrainingRun& run) {
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

struct TokenSet {
  TemporaryDirectory folder;
  DataChoice choice{.train = {write_file(folder.path() / "train.bin", made_tokens(20'001, 1))},
                    .evaluation = {write_file(folder.path() / "val.bin", made_tokens(2'001, 99))},
                    .vocabulary = 50};
};

struct ClickSet {
  TemporaryDirectory folder;
  DataChoice choice{.train = {write_file(folder.path() / "train.txt", made_clicks(6'000, 1))},
                    .evaluation = {write_file(folder.path() / "val.txt", made_clicks(1'000, 7001))},
                    .table_rows = 100};
};

}  // namespace

TEST_CASE("llm on files uses their vocabulary and reports the loss as quality", "[long]") {
  const TokenSet set;
  const auto workload = make_llm_workload("tiny", 1, 0, set.choice);
  CHECK_FALSE(workload->knows_floor());
  CHECK_FALSE(workload->recipe().target);
  CHECK(workload->recipe().evaluation_samples == 2000 / 64);
  CHECK(workload->data().at("samples") == 20'000 / 64);
  CHECK(workload->data().at("kind") == "files");
  const auto baselines = workload->baselines();
  std::map<std::string, double> losses(baselines.begin(), baselines.end());
  CHECK(losses.at("uniform") == Approx(std::log(50.0)));
  CHECK(losses.at("bigram") < losses.at("unigram"));

  const TrainingRun run = train(*workload, 80, 32);
  check_all_held(run);
  CHECK_FALSE(run.converged);  // to no target
  const CurvePoint& last = run.curve.back();
  CHECK(last.gap == last.native);
  CHECK(last.floor == 0.0);
  // One token in seven is new: what the law says is 0.41 + log(50) / 7 = 0.97 nats.
  CHECK(last.gap < 0.9 * losses.at("unigram"));
  CHECK(last.gap < losses.at("bigram") + 0.3);
  CHECK(run.parts.at(0).second == Approx(std::exp(last.native)));
}

TEST_CASE("the seed orders training samples of files but not evaluation samples") {
  const TokenSet set;
  const auto one = make_llm_workload("tiny", 1, 0, set.choice),
             two = make_llm_workload("tiny", 2, 0, set.choice);
  CHECK(one->repeats());
  CHECK(one->checksum(Split::train, 0, 8) != two->checksum(Split::train, 0, 8));
  CHECK(one->checksum(Split::evaluation, 0, 8) == two->checksum(Split::evaluation, 0, 8));
}

TEST_CASE("llm memorizes few generated samples without a failed check", "[long]") {
  const auto few = make_llm_workload("tiny", 1, 0, DataChoice{.samples = 64});
  CHECK(few->knows_floor());
  CHECK(few->data().at("kind") == "generated");
  CHECK(few->data().at("samples") == 64);
  const TrainingRun run = train(*few, 120, 32);
  check_all_held(run);
  double last_losses = 0.0;
  for (std::size_t i = run.steps.size() - 10; i < run.steps.size(); ++i)
    last_losses += run.steps[i].loss / 10.0;
  CHECK(last_losses < run.curve.back().native - 0.3);  // seen 60 times each
  CHECK(run.curve.back().floor > 2.0);                 // the language's, as ever
}

TEST_CASE("dlrm on a log file uses its tables and is evaluated on its labels") {
  const ClickSet set;
  const auto workload = make_dlrm_workload("tiny", 1, set.choice);
  CHECK_FALSE(workload->knows_floor());
  CHECK_FALSE(workload->recipe().target);
  CHECK(workload->recipe().evaluation_samples == 1000);
  const TrainingRun run = train(*workload, 40, 256);
  check_all_held(run);
  const CurvePoint& last = run.curve.back();
  CHECK(last.floor == 1.0);
  CHECK(last.gap == Approx(1.0 - last.native));
  CHECK(last.native > 0.85);  // half of the labels' law is the parity of a word
  const std::map<std::string, double> parts(run.parts.begin(), run.parts.end());
  CHECK(parts.at("normalized_entropy") < 0.9);
  CHECK(parts.at("calibration") == Approx(1.0).margin(0.2));
}

TEST_CASE("a log without clicks is refused because AUC is undefined") {
  TemporaryDirectory folder;
  std::string none;
  for (int i = 0; i < 64; ++i) none += "0" + std::string(39, '\t') + "\n";
  ClickSet set;
  set.choice.evaluation = {write_file(folder.path() / "val.txt", none)};
  const auto workload = make_dlrm_workload("tiny", 1, set.choice);
  CHECK_THROWS_WITH(train(*workload, 8, 256), Contains("0 of 64 evaluation samples are clicks"));
}

TEST_CASE("unsupported workload parameters are refused by name") {
  CHECK_THROWS_WITH(make_workload("llm", "tiny", 1, 0, {.table_rows = 5}),
                    Contains("llm has no embedding tables"));
  CHECK_THROWS_WITH(make_workload("llm", "tiny", 1, 0, {.vocabulary = 5}),
                    Contains("applies only to token files"));
  CHECK_THROWS_WITH(make_workload("dlrm", "tiny", 1, 0, {.vocabulary = 5}),
                    Contains("dlrm has no tokens"));
  CHECK_THROWS_WITH(make_workload("dlrm", "tiny", 1, 0, {.table_rows = 5}),
                    Contains("applies only to click log files"));
  const ClickSet set;
  DataChoice two = set.choice;
  two.train.push_back(two.train.front());
  CHECK_THROWS_WITH(make_workload("dlrm", "tiny", 1, 0, two), Contains("found 2 files to train"));
  DataChoice more = set.choice;
  more.samples = 6'001;
  CHECK_THROWS_WITH(make_workload("dlrm", "tiny", 1, 0, more),
                    Contains("6001 samples requested, but the source has 6000"));
}

}  // namespace bench::training
