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

TEST_CASE("a model is the same, however many threads make it") {
  const DecoderModel one = little_model(little_llama(), WeightType::int4, 1),
                     three = little_model(little_llama(), WeightType::int4, 3);
  for (std::size_t i = 0; i < one.layers.size(); ++i)
    for (std::int64_t j = 0; j < one.layers[i].down.columns(); ++j)
      CHECK(one.layers[i].down.at(7, j) == three.layers[i].down.at(7, j));
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
