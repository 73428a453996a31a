#include "inference/decoder_model.h"

#include "tests/inference/decoding_model.h"
#include "tests/support/catch.h"

namespace bench::inference {

TEST_CASE("the bytes of a model are known before it is made") {
  for (const auto& shape : {little_llama(), little_gpt2()})
    for (const WeightType type :
         {WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::int4}) {
      INFO(to_string(type) << (shape.gpt2 ? ", GPT-2" : ", Llama"));
      CHECK(little_model(shape, type).bytes() == decoder_model_bytes(shape, type));
    }
}

TEST_CASE("models with weights of few bits read fewer bytes in a pass") {
  const auto bytes = [](WeightType type) {
    return little_model(little_llama(), type).pass_bytes();
  };
  CHECK(bytes(WeightType::bf16) * 2 == bytes(WeightType::f32));
  CHECK(bytes(WeightType::int8) < bytes(WeightType::bf16));
  CHECK(bytes(WeightType::int4) < bytes(WeightType::int8));
}

}  // namespace bench::inference
