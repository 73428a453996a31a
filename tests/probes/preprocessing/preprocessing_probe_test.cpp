// The probe `preprocessing` on little text: what it reports, what it keeps, and what it refuses.
#include <filesystem>

#include "core/error.h"
#include "core/whole_file.h"
#include "devices/host/host_device.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "tests/support/temporary_directory.h"
#include "tokenizer/split_pattern.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

struct PreprocessingJob : ProbeJob {
  std::unique_ptr<Device> host = make_host_device();

  explicit PreprocessingJob(Json params) : ProbeJob("preprocessing", small(std::move(params))) {
    job.measure.max_time_s = 0.01;
    job.measure.warm_up_max_s = 0.01;
  }
  static Json small(Json params) {
    const Json defaults = {{"text_bytes", 50000}, {"vocabulary", 400}, {"threads", {1}}};
    for (const auto& [name, value] : defaults.items())
      if (!params.contains(name)) params[name] = value;
    return params;
  }
  Outcome run_here() { return run_on(*host, *group); }
};

bool can_split() { return tokenizer::why_no_patterns().empty(); }

TEST_CASE("the stage tokenize reports rates that were verified") {
  if (!can_split()) return;
  PreprocessingJob job(Json{{"stage", "tokenize"}});
  REQUIRE(job.run_here().status == Status::ok);
  for (const char* metric : {"text_rate", "token_rate", "split_rate"}) {
    const auto found = job.of(metric);
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].check);
    CHECK(found[0].check->passed());
    CHECK(found[0].params.at("tokenizer") == "trained");
    CHECK(found[0].values.at(0) > 0.0);
  }
  const double bytes = job.of("bytes_per_token").at(0).values.at(0);
  CHECK(bytes > 1.0);
  CHECK(bytes < 10.0);
}

TEST_CASE("the stage shuffle reports both ways, with limits where the run has them") {
  if (!can_split()) return;
  const TemporaryDirectory folder;
  PreprocessingJob job(
      {{"stage", "shuffle"}, {"memory_bytes", 400000}, {"path", folder.path().string()}});
  job.job.limits = {
      {"traffic", {{"threads", 1}}, {3e12, LimitKind::measured, "memory"}},
      {"shuffle_rate", {{"pattern", "sequential_write"}}, {5e12, LimitKind::measured, "storage"}}};
  REQUIRE(job.run_here().status == Status::ok);
  const auto rates = job.of("shuffle_rate");
  REQUIRE(rates.size() == 2);
  CHECK(rates[0].params.at("documents_in") == "memory");
  CHECK(rates[0].limit.value().value == Approx(1.5e12));
  CHECK(rates[1].params.at("documents_in") == "files");
  CHECK(rates[1].limit.value().value == Approx(5e12));
  for (const Samples& samples : rates) CHECK(samples.check.value().passed());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a shuffle that needs too many files is skipped with the reason") {
  if (!can_split()) return;
  PreprocessingJob job({{"stage", "shuffle"},
                        {"shuffles", {"files"}},
                        {"text_bytes", 4000000},
                        {"memory_bytes", 65536}});
  CHECK(job.run_here().status == Status::skipped);
  CHECK_THAT(job.of("shuffle_rate").at(0).reason, Contains("set memory_bytes to more"));
}

TEST_CASE("the stage pack reports both packings and keeps what was made") {
  if (!can_split()) return;
  const TemporaryDirectory folder;
  PreprocessingJob job(
      {{"stage", "pack"}, {"sequence", 64}, {"output", (folder.path() / "made").string()}});
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("pack_rate").size() == 2);
  CHECK(job.of("sequences").size() == 2);
  CHECK(job.of("padding_share").at(0).values.at(0) < 0.01);
  CHECK(job.of("cut_share").at(0).values.at(0) >= job.of("cut_share").at(1).values.at(0));
  for (const char* file :
       {"tokenizer.json", "text.jsonl", "concatenate/train.bin", "best_fit/val.bin"})
    CHECK(std::filesystem::file_size(folder.path() / "made" / file) > 1000);

  // The same text with the tokenizer that was kept: the same tokens, which are now said to be of
  // it.
  PreprocessingJob again(Json{{"tokenizer", (folder.path() / "made/tokenizer.json").string()}});
  PreprocessingJob trained(Json::object());
  REQUIRE(again.run_here().status == Status::ok);
  REQUIRE(trained.run_here().status == Status::ok);
  CHECK(again.of("text_rate").at(0).params.at("tokenizer") == "tokenizer.json");
  CHECK(again.of("bytes_per_token").at(0).values == trained.of("bytes_per_token").at(0).values);
}

TEST_CASE("files that exist are never replaced, and nothing is measured then") {
  if (!can_split()) return;
  for (const char* file : {"tokenizer.json", "text.jsonl", "best_fit/val.bin"}) {
    const TemporaryDirectory folder;
    const auto existing = folder.path() / file;
    write_file(existing, "of a user");
    PreprocessingJob job({{"stage", "pack"}, {"sequence", 64}, {"output", folder.path().string()}});
    CHECK_THROWS_WITH(job.run_here(), Contains(existing.string() + ": file already exists"));
    CHECK(job.of("pack_rate").empty());
    CHECK(read_file(existing) == "of a user");
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      files += entry.is_regular_file() ? 1 : 0;
    CHECK(files == 1);
  }
  const TemporaryDirectory folder;
  PreprocessingJob few(
      {{"stage", "pack"}, {"sequence", 100000}, {"output", folder.path().string()}});
  CHECK_THROWS_WITH(few.run_here(), Contains("are too few for files"));
  CHECK(few.of("pack_rate").empty());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("series of different texts and tokenizers have different parameters") {
  if (!can_split()) return;
  const auto params = [](Json changed) {
    PreprocessingJob job(std::move(changed));
    REQUIRE(job.run_here().status == Status::ok);
    return job.of("text_rate").at(0).params;
  };
  const TemporaryDirectory folder;
  std::vector<Json> all = {params(Json::object()), params(Json{{"text_bytes", 60000}}),
                           params(Json{{"vocabulary", 401}}), params(Json{{"pattern", "gpt2"}}),
                           params(Json{{"special_tokens", true}})};
  for (const char* text : {"one text, one text", "two text, two text"}) {
    // Of the same name and size.
    const auto file = folder.path() / std::string(text).substr(0, 3) / "text.txt";
    write_file(file, text);
    all.push_back(params(Json{{"data", file.string()}}));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(all[i] != all[k]);
  CHECK(params(Json::object()) == all[0]);
}

TEST_CASE("text that does not fit into memory is skipped before it is made") {
  if (!can_split()) return;
  PreprocessingJob job({{"text_bytes", std::int64_t{1} << 40}, {"vocabulary", 300}});
  const Outcome outcome = job.run_here();
  CHECK(outcome.status == Status::skipped);
  CHECK_THAT(outcome.reason, Contains("of memory, and"));
}

TEST_CASE("wrong files are errors that name them") {
  if (!can_split()) return;
  PreprocessingJob none(Json{{"tokenizer", "/nonexistent/tokenizer.json"}});
  CHECK_THROWS_WITH(none.run_here(), Contains("/nonexistent/tokenizer.json"));
  PreprocessingJob text(Json{{"data", "/nonexistent/text.jsonl"}});
  CHECK_THROWS_WITH(text.run_here(), Contains("/nonexistent/text.jsonl"));
  PreprocessingJob ranks(Json{{"tokenizer", "tests/data/tokenizer/small.tiktoken"}});
  CHECK_THROWS_WITH(ranks.run_here(), Contains("does not say how texts are split"));
  PreprocessingJob empty(Json{{"text_bytes", 0}});
  CHECK_THROWS_WITH(empty.run_here(), Contains("text_bytes is 0"));
}

}  // namespace
}  // namespace bench
