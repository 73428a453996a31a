// Parameters, operations and caches of public models, as published.
#include "core/model_shape.h"

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {

TEST_CASE("public models have their published number of parameters") {
  // By counting the tensors of the checkpoints on the hub; GPT-3: 175 billion, table 2.1.
  const std::pair<const char*, double> published[] = {
      {"gpt2-124m", 124'439'808},       {"gpt2-1.5b", 1'557'611'200},
      {"llama2-7b", 6'738'415'616},     {"llama2-70b", 68'976'648'192},
      {"llama3-8b", 8'030'261'248},     {"llama3-70b", 70'553'706'496},
      {"llama3-405b", 405'853'388'800}, {"mistral-7b", 7'241'732'096},
      {"mixtral-8x7b", 46'702'792'704}, {"qwen3-32b", 32'762'123'264},
      {"gpt-oss-20b", 20'914'757'184},  {"gpt-oss-120b", 116'829'156'672},
      {"deepseek-v3", 671'026'419'200}};
  for (const auto& [name, parameters] : published) {
    INFO(name);
    CHECK(model_shape(name).parameters() == parameters);
  }
  CHECK(model_shape("gpt3-175b").parameters() == Approx(175e9).epsilon(0.003));
}

TEST_CASE("experts count by those that a token passes") {
  // arXiv 2412.19437: 37 billion activated of 671; arXiv 2401.04088: 13 of 47.
  CHECK(model_shape("deepseek-v3").active_matrix_parameters() == Approx(37e9).epsilon(0.02));
  CHECK(model_shape("mixtral-8x7b").active_matrix_parameters() == Approx(12.8e9).epsilon(0.01));
  CHECK(model_shape("gpt-oss-20b").active_matrix_parameters() == Approx(3.6e9).epsilon(0.19));
}

TEST_CASE("Llama 3 405B on 15.6 T tokens takes the published 3.8e25 operations") {
  // arXiv 2407.21783, section 1: 3.8 x 10^25 FLOPs, by 6 N D.
  const ModelShape model = model_shape("llama3-405b");
  CHECK(6 * model.parameters() * 15.6e12 == Approx(3.8e25).epsilon(0.01));
  CHECK(model.training_flops_per_token(8192) * 15.6e12 == Approx(3.8e25).epsilon(0.04));
}

TEST_CASE("caches of keys and values have their published size") {
  CHECK(model_shape("llama3-8b").cache_bytes_per_token(2) == 131'072);
  CHECK(model_shape("llama3-70b").cache_bytes_per_token(2) == 327'680);
  // DeepSeek-V3: 70 KB a token, arXiv 2505.09343, table 1.
  CHECK(model_shape("deepseek-v3").cache_bytes_per_token(2) == Approx(70.272e3));
  CHECK(model_shape("llama3-405b").cache_bytes_per_token(2) == Approx(516.096e3));
}

TEST_CASE("a model from a file is that of the catalogue with the same numbers") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "m.json";
  write_file(file,
             R"({"name": "mine", "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8,
                 "feed_forward": 14336, "vocabulary": 128256})");
  const ModelShape mine = model_shape(file.string());
  CHECK(mine.parameters() == model_shape("llama3-8b").parameters());
  CHECK(mine.sequence == 4096);
  write_file(file, R"({"name": "mine", "layers": 32, "hiden": 4096})");
  CHECK_THROWS_WITH(model_shape(file.string()), Catch::Matchers::Contains("hiden"));
  CHECK_THROWS_WITH(model_shape("lama3-8b"), Catch::Matchers::Contains("llama3-8b"));
}

}  // namespace bench
