#include "results/output/run/gemm_lines.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

Json library(const char* name, const char* version, const char* isa, double flops, bool chosen) {
  return {
      {"library", name}, {"version", version}, {"isa", isa}, {"flops", flops}, {"chosen", chosen}};
}

std::vector<std::string> lines_of(const Json& trial) {
  std::vector<std::string> texts;
  for (const auto& line : gemm_lines({{"trials", Json::array({trial})}}).lines)
    texts.push_back(line.spans.at(0).text);
  return texts;
}

Json trial_of(const char* dtype, Json libraries) {
  return {{"dtype", dtype}, {"threads", 2},        {"isa", "best"},
          {"packed", true}, {"cpu_isa", "avx512"}, {"libraries", std::move(libraries)}};
}

}  // namespace

TEST_CASE("libraries that were tried are listed with their rates, and others with the reason") {
  Json trial = trial_of("int8", {library("onednn", "2.6.3", "avx512", 9e11, true),
                                 library("onednn-3.2.0", "", "avx512", 8e11, false),
                                 {{"reason", "cannot load x.so"}}});
  CHECK(lines_of(trial) ==
        std::vector<std::string>{"int8, 2 threads: onednn 2.6.3 900.0 GOP/s in a trial; others: "
                                 "onednn-3.2.0 800.0 GOP/s; not tried: cannot load x.so"});
  trial["isa"] = "avx512";
  trial["packed"] = false;
  trial["threads"] = 1;
  CHECK(lines_of(trial).at(0).starts_with("int8, 1 thread, avx512, not packed: onednn 2.6.3"));
}

TEST_CASE("a library with a wrong result, and one that cannot be loaded, are named") {
  const Json trial = trial_of("f32", {library("onednn", "2.6.3", "avx512", 1e11, true),
                                      {{"library", "mkl-2026.2"}, {"wrong", true}}});
  const Lines lines = gemm_lines(
      {{"trials", Json::array({trial})}, {"problems", {"cannot load /x.so: no such file"}}});
  REQUIRE(lines.lines.size() == 2);
  CHECK(lines.lines[0].spans.at(0).text ==
        "f32, 2 threads: onednn 2.6.3 100.0 GFLOP/s in a trial; WRONG RESULT, not used: "
        "mkl-2026.2");
  CHECK(lines.lines[0].spans.at(0).tone == Tone::bad);
  CHECK(lines.lines[1].spans.at(0).text == "not loaded: cannot load /x.so: no such file");
}

TEST_CASE("a library that alone was tried is not worth a line, unless it knows only older CPUs") {
  CHECK(lines_of(trial_of("f64", {library("openblas", "0.3.30", "avx512", 9e10, true)})).empty());
  CHECK(lines_of(trial_of("f64", {library("openblas", "0.3.21", "avx2", 9e10, true)})) ==
        std::vector<std::string>{
            "f64, 2 threads: openblas 0.3.21 90.00 GFLOP/s in a trial; it runs avx2 kernels on a "
            "CPU with avx512: a newer library may know this CPU (scripts/install --fastest)"});
}

}  // namespace bench
