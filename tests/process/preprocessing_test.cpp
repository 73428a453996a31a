// Text to a training in one chain, as users run it: benchctl run preprocessing writes token files,
// and benchctl train llm trains on them.
#include "core/whole_file.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("text becomes tokens, and a training reads them") {
  const BenchctlFolder bench;
  const auto text = bench.folder.path() / "text.jsonl";
  std::string lines;
  for (int i = 0; i < 1000; ++i)
    lines += "{\"text\": \"Document " + std::to_string(i * 7919 % 1000) +
             " says that the quick brown fox jumps over the lazy dog.\"}\n";
  write_file(text, lines);
  const std::string made = (bench.folder.path() / "made").string();
  const Answer prepared = bench.run(
      {"run", "preprocessing", "--only", "pack", "--set", "pack.data=" + text.string(), "--set",
       "pack.vocabulary=400", "--set", "pack.sequence=64", "--set", "pack.output=" + made, "--set",
       "pack.threads=[1]", "--set", "pack.packings=[\"best_fit\"]", "--json"});
  INFO(prepared.err);
  const Json report = parse_json(prepared.out, "answer");
  if (report["jobs"][0]["outcome"] == "skipped") return;  // built without PCRE2
  CHECK(report["jobs"][0]["outcome"] == "ok");
  const Answer trained = bench.run({"train", "llm", "--data", made + "/best_fit", "--vocabulary",
                                    "400", "--steps", "4", "--lanes", "1", "--json"});
  INFO(trained.err);
  REQUIRE(trained.exit.clean());
  const Json samples = parse_json(trained.out, "answer")["groups"][0]["facts"]["data"]["samples"];
  // Of sequences of 64 tokens, as tiny takes them, a twentieth is for evaluation.
  CHECK(samples > 200);
  CHECK(samples < 600);
}

TEST_CASE("a tokenizer that is not there fails the job, naming the file") {
  const BenchctlFolder bench;
  const Answer answer = bench.run({"run", "preprocessing", "--only", "tokenize", "--set",
                                   "tokenize.tokenizer=none/tokenizer.json"});
  INFO(answer.out);
  CHECK(answer.exit.text() != "exit code 0");
  CHECK_THAT(answer.out + answer.err, Contains("none/tokenizer.json"));
}
