// Sides of a comparison on the command line of the real program, over runs of a probe that answers
// what it is asked.
#include <fstream>
#include <string>

#include "core/schema.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

void run_value(const BenchctlFolder& bench, const std::string& value, const std::string& label) {
  const auto path = bench.folder.path() / "value.json";
  std::ofstream(path) << R"({"suite": "value", "cases": [{"name": "value", "probe": "null"}]})";
  const Answer done =
      bench.run({"run", path.string(), "--set", "value.value=" + value, "--set",
                 "value.noise=0.001", "--set", "value.samples=20", "--label", "step=" + label});
  REQUIRE(done.exit.clean());
}

}  // namespace

TEST_CASE("runs are compared by label: a regression is exit code 1, also with sides from files") {
  const BenchctlFolder bench;
  for (const char* value : {"100", "100.1", "99.9", "100.05"}) run_value(bench, value, "before");
  for (const char* value : {"95", "95.1", "94.9", "95.05"}) run_value(bench, value, "after");
  const Answer found = bench.run({"compare", "label:step=before", "label:step=after", "--json"});
  CHECK(found.exit.text() == "exit code 1");
  const Json json = parse_json(found.out, "answer");
  CHECK_NOTHROW(Schema::load("schemas/compare.json").check(json, "answer"));
  REQUIRE(json["metrics"].size() == 1);
  CHECK(json["metrics"][0]["verdict"] == "regressed");
  CHECK(json["metrics"][0]["n_a"] == 4);
  CHECK(json["metrics"][0]["ratio"].get<double>() == Approx(0.95).epsilon(0.005));

  const auto page = bench.folder.path() / "page.html";
  const Answer back =
      bench.run({"compare", "label:step=after", "label:step=before", "--html", page});
  CHECK(back.exit.clean());
  CHECK_THAT(back.out, Contains("IMPROVED"));
  CHECK_THAT(read_file(page), Contains("null.value"));

  const auto file = bench.folder.path() / "latest.jsonl";
  std::ofstream(file) << bench.run({"export", "jsonl", "latest"}).out;
  const Answer same = bench.run({"compare", "latest", "file:" + file.string(), "--all"});
  CHECK_THAT(same.out, Contains("EQUIVALENT"));
}

TEST_CASE("three sides make a ladder; an unknown selector gets a suggestion") {
  const BenchctlFolder bench;
  for (const char* value : {"100", "150", "300"}) run_value(bench, value, value);
  const Answer ladder =
      bench.run({"compare", "label:step=100", "label:step=150", "label:step=300", "--json"});
  const Json steps = parse_json(ladder.out, "ladder")["ladder"][0]["steps"];
  CHECK(steps[2]["individual"]["ratio"].get<double>() == Approx(2.0).epsilon(0.01));
  CHECK(steps[2]["cumulative"]["ratio"].get<double>() == Approx(3.0).epsilon(0.01));
  const Answer wrong = bench.run({"compare", "latest", "labels:step=100"});
  CHECK(wrong.exit.text() == "exit code 2");
  CHECK_THAT(wrong.err, Contains("Did you mean 'label'"));
  CHECK_THAT(bench.run({"compare", "latest", "latest~7"}).err, Contains("there are only 3 runs"));
}
