// benchctl mlperf scaling, compare and package, and import mlperf on the command line, on a
// synthetic round that passes the official rules.
#include <fmt/format.h>

#include "core/schema.h"
#include "core/whole_file.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kBegin = 1'760'000'000'000;  // October 2025: round 5.1

std::string line(std::int64_t ms, const std::string& event, const std::string& key,
                 const Json& value, const Json& metadata = {{"file", "t.py"}, {"lineno", 1}}) {
  const Json json = {{"namespace", ""}, {"time_ms", kBegin + ms}, {"event_type", event},
                     {"key", key},      {"value", value},         {"metadata", metadata}};
  return ":::MLLOG " + json.dump() + "\n";
}

/// A closed-division run of llama2_70b_lora that takes `minutes`.
std::string lora_log(int number, double minutes, const std::string& submitter = "acme") {
  const auto stop = static_cast<std::int64_t>(minutes * 60'000.0);
  const std::string point = "POINT_IN_TIME", start = "INTERVAL_START", end = "INTERVAL_END";
  std::string log =
      line(-5000, point, "cache_clear", true) + line(-4000, start, "init_start", nullptr);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, Json>>{{"submission_benchmark", "llama2_70b_lora"},
                                                 {"submission_org", submitter},
                                                 {"submission_division", "closed"},
                                                 {"submission_status", "onprem"},
                                                 {"submission_platform", "rack"},
                                                 {"seed", 1000 + number},
                                                 {"global_batch_size", 8},
                                                 {"gradient_accumulation_steps", 1},
                                                 {"train_samples", 3901},
                                                 {"eval_samples", 173},
                                                 {"opt_base_learning_rate", 0.0004},
                                                 {"opt_learning_rate_training_steps", 1024},
                                                 {"opt_gradient_clip_norm", 0.3},
                                                 {"opt_adamw_weight_decay", 0.0001},
                                                 {"lora_rank", 16},
                                                 {"lora_alpha", 32}})
    log += line(-3000, point, key, value);
  log += line(-1000, end, "init_stop", nullptr) + line(0, start, "run_start", nullptr);
  const auto after = [](int samples) { return Json{{"samples_count", samples}}; };
  log += line(1, start, "block_start", nullptr, after(0));
  for (const int samples : {1536, 1920, 2304, 2688, 3072, 3456}) {
    const auto when = stop * samples / 3456 - 2;
    log += line(when, start, "eval_start", nullptr, after(samples)) +
           line(when, point, "eval_accuracy", samples == 3456 ? 0.92 : 0.93, after(samples)) +
           line(when, end, "eval_stop", nullptr, after(samples));
  }
  log += line(stop - 1, end, "block_stop", nullptr, after(3456));
  return log +
         line(stop, end, "run_stop", nullptr, {{"status", "success"}, {"samples_count", 3456}});
}

/// Two systems with 8 and 16 accelerators: 20 and 11 minutes.
struct MadeUpRound {
  BenchctlFolder bench;
  std::filesystem::path path = bench.folder.path() / "round";

  MadeUpRound() {
    add("small", 1, 20.0);
    add("large", 2, 11.0);
  }
  void add(const std::string& system, int nodes, double minutes) const {
    for (int i = 0; i < 10; ++i)
      write_file(path / "acme/results" / system / fmt::format("llama2_70b_lora/result_{}.txt", i),
                 lora_log(i, minutes * (1.0 + 0.002 * (i - 4.5))));
    write_file(path / "acme/systems" / (system + ".json"),
               dump({{"submitter", "acme"},
                     {"division", "closed"},
                     {"status", "Available cloud"},
                     {"system_name", system},
                     {"number_of_nodes", std::to_string(nodes)},
                     {"accelerators_per_node", "8"},
                     {"accelerator_model_name", "GPU X1"}}));
  }
  Json json(std::vector<std::string> words, const std::string& schema, int code = 0) const {
    words.push_back("--json");
    const Answer answer = bench.run(words);
    INFO(answer.err);
    CHECK(answer.exit.text() == (code == 0 ? "exit code 0" : fmt::format("exit code {}", code)));
    const Json said = parse_json(answer.out, "answer");
    CHECK_NOTHROW(Schema::load("schemas/" + schema + ".json").check(said, schema));
    return said;
  }
};

}  // namespace

TEST_CASE("published results give scaling, a ranking, a comparison and imported runs") {
  const MadeUpRound round;
  const std::string path = round.path.string();
  const Json scaling = round.json({"mlperf", "scaling", path}, "report_mlperf_scaling");
  REQUIRE(scaling["series"].size() == 1);
  CHECK(scaling["series"][0]["points"][1]["n"] == 16);
  CHECK(scaling["series"][0]["points"][1]["efficiency"].get<double>() == Approx(20.0 / 22.0));
  CHECK(scaling["series"][0]["points"][1]["convergence_penalty"].get<double>() == Approx(1.0));

  const Json table = round.json({"mlperf", "compare", path}, "report_mlperf_compare");
  CHECK(table["benchmarks"][0]["entries"][0]["score_minutes"].get<double>() == Approx(11.0));
  CHECK(table["benchmarks"][0]["entries"][1]["over_the_best"].get<double>() == Approx(1.0));
  const Json sides = round.json({"mlperf", "compare", path, "--between", "small", "large"},
                                "report_mlperf_compare");
  CHECK(sides["unequal"][0]["ratio"].get<double>() == Approx(22.0 / 20.0));
  CHECK_THAT(round.bench.run({"mlperf", "compare", path, "--between", "acme", "large"}).err,
             Contains("is on both sides"));
  CHECK_THAT(round.bench.run({"mlperf", "scaling", path, "--benchmark", "llama2_70b_lor"}).err,
             Contains("Did you mean 'llama2_70b_lora'?"));

  const Json imported = round.json({"import", "mlperf", path, "--label", "round=5.1"}, "import");
  REQUIRE(imported["imported"].size() == 10);
  std::vector<std::string> report = {"report", "scaling", "--metric", "mlperf.time"};
  for (const Json& run : imported["imported"]) report.push_back(run["run"]);
  const Json ours = round.json(report, "report_scaling");
  CHECK(ours["series"][0]["points"][1]["efficiency"].get<double>() ==
        Approx(20.0 / 22.0).epsilon(1e-3));
  CHECK_THAT(dump(ours["warnings"]), Contains("not verified by MLCommons"));
  const std::string first = imported["imported"].front()["run"],
                    last = imported["imported"].back()["run"];
  CHECK_THAT(round.bench.run({"compare", first, last}).out, Contains("not verified by MLCommons"));
  CHECK_THAT(round.bench.run({"import", "mlperf", path, "--label", "round=5.1"}).err,
             Contains("already imported as"));
}

TEST_CASE("a package of logs passes the check and lists what is still to do") {
  const MadeUpRound round;
  const auto out = round.bench.folder.path() / "out";
  const auto logs = round.path / "acme/results/small/llama2_70b_lora";
  std::vector<std::string> words = {
      "mlperf",          "package", logs.string(),       "--out", out.string(),
      "--submitter",     "corp",    "--system",          "rack7", "--benchmark",
      "llama2_70b_lora", "--set",   "cooling=Air-cooled"};
  std::vector<std::string> as_open = words;
  as_open.insert(as_open.end(), {"--division", "open"});
  const Answer refused = round.bench.run(as_open);
  CHECK(refused.exit.text() == "exit code 2");
  CHECK_THAT(refused.err, Contains("is of the closed division, not open"));
  CHECK_FALSE(std::filesystem::exists(out));
  const Json said = round.json(words, "report_mlperf_package");
  CHECK(read_json(out / "corp/systems/rack7.json")["division"] == "closed");
  CHECK(said["runs"].size() == 10);
  CHECK(said["score_minutes"].get<double>() == Approx(20.0));
  bool status = false, cooling = false;
  for (const Json& one : said["to_do"]) {
    status |= one["what"] == "systems/rack7.json: status";
    cooling |= one["what"] == "systems/rack7.json: cooling";
  }
  CHECK(status);
  CHECK_FALSE(cooling);
  CHECK(read_file(out / "corp/results/rack7/llama2_70b_lora/result_3.txt") ==
        read_file(logs / "result_3.txt"));
  const Answer again = round.bench.run(words);
  CHECK(again.exit.text() == "exit code 2");
  CHECK_THAT(again.err, Contains("already exists"));
}

TEST_CASE("of twelve runs, the ten of the median window are packaged") {
  const MadeUpRound round;
  const auto logs = round.bench.folder.path() / "logs";
  for (int i = 0; i < 12; ++i)
    write_file(logs / fmt::format("result_{}.txt", i), lora_log(i, 20.0 + i));
  const Json said =
      round.json({"mlperf", "package", logs.string(), "--out",
                  (round.bench.folder.path() / "out").string(), "--submitter", "corp", "--system",
                  "rack7", "--benchmark", "llama2_70b_lora", "--division", "closed"},
                 "report_mlperf_package");
  CHECK(said["runs"].size() == 10);
  CHECK(said["left_out"].size() == 2);
}
