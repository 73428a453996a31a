// Weights as safetensors, whole and damaged, and the names and layouts of exported models.
#include "training/checkpoint/safetensors.h"

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/json.h"
#include "core/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"
#include "training/checkpoint/llm_export.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

SafetensorsInput tensor_of(const std::string& name, std::vector<std::int64_t> shape,
                           std::vector<float> values) {
  return {name, std::move(shape), [values](std::span<float> to) {
            REQUIRE(to.size() == values.size());
            std::ranges::copy(values, to.begin());
          }};
}

struct WrittenFile {
  WrittenSafetensors written = {};
  std::string text = {};
};

WrittenFile write_file(const std::vector<SafetensorsInput>& tensors, Dtype dtype,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}}) {
  const TemporaryDirectory folder;
  WrittenFile file;
  file.written = write_safetensors(folder.path() / "m.safetensors", tensors, dtype, metadata);
  file.text = read_file(folder.path() / "m.safetensors");
  return file;
}

std::span<const std::byte> as_read(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A file with this header and so many bytes after it.
std::string made_file(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header +
         std::string(data, '\0');
}

std::string trouble_of(const std::string& text) try {
  const SafetensorsFile file(as_read(text), "m.safetensors");
  return "";
} catch (const Error& error) {
  CHECK(error.kind() == ErrorKind::input);
  CHECK_FALSE(error.hint().empty());
  return error.what();
}

}  // namespace

TEST_CASE("safetensors are written as the format says, byte by byte") {
  const WrittenFile file =
      write_file({tensor_of("b", {2, 1}, {1.0f, -2.0f}), tensor_of("a", {}, {0.5f})}, Dtype::f32);
  std::uint64_t length = 0;
  std::memcpy(&length, file.text.data(), sizeof(length));
  CHECK(length % 8 == 0);
  const Json header = Json::parse(file.text.substr(8, length));
  CHECK(header == Json::parse(R"({"__metadata__": {"format": "pt"},
      "a": {"dtype": "F32", "shape": [], "data_offsets": [8, 12]},
      "b": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}})"));
  std::array<float, 3> values{};
  REQUIRE(file.text.size() == 8 + length + sizeof(values));
  std::memcpy(values.data(), file.text.data() + 8 + length, sizeof(values));
  CHECK(values == std::array<float, 3>{1.0f, -2.0f, 0.5f});
  CHECK(file.written.bytes == file.text.size());
  CHECK(file.written.sha256 == sha256(file.text));
}

TEST_CASE("weights read back as they were rounded") {
  const std::vector<float> values = {1.0f, 1.00390625f, 1.01171875f, -3.14159274f, 1e-3f, 0.0f};
  for (const auto& [dtype, exact] : {std::pair{Dtype::f32, 6}, {Dtype::bf16, 2}, {Dtype::f16, 4}}) {
    const WrittenFile file = write_file({tensor_of("w", {6}, values)}, dtype);
    const SafetensorsFile read(as_read(file.text), "m");
    std::vector<float> found(6);
    read.read("w", found);
    int equal = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      equal += found[i] == values[i] ? 1 : 0;
      CHECK(std::abs(found[i] - values[i]) <= std::abs(values[i]) / 256.0f);
    }
    CHECK(equal == exact);
    CHECK(read.metadata().at("format") == "pt");
  }
  const WrittenFile halves = write_file({tensor_of("w", {6}, values)}, Dtype::bf16);
  std::vector<float> found(6);
  SafetensorsFile(as_read(halves.text), "m").read("w", found);
  CHECK(found[1] == 1.0f);  // a tie goes to the even neighbour
  CHECK(found[2] == 1.015625f);
}

TEST_CASE("a value that a type cannot hold is not exported as infinity") {
  const auto refused = [](float value, Dtype dtype) {
    try {
      write_file({tensor_of("layer0.wo", {2}, {1.0f, value})}, dtype);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("written");
  };
  CHECK(refused(65504.0f, Dtype::f16) == "written");
  CHECK_THAT(refused(70000.0f, Dtype::f16), Contains("element 1 of layer0.wo is 70000"));
  CHECK(refused(70000.0f, Dtype::bf16) == "written");
  CHECK_THAT(refused(std::nanf(""), Dtype::f32), Contains("element 1 of layer0.wo is nan"));
  CHECK_THAT(refused(HUGE_VALF, Dtype::f32), Contains("inf"));
  CHECK_THAT(refused(1.0f, Dtype::int8), Contains("cannot be exported as int8"));
}

TEST_CASE("damaged safetensors are refused, naming the tensor") {
  const std::string one = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  CHECK(trouble_of(made_file(one, 8)).empty());
  CHECK_THAT(trouble_of(made_file(one, 7)), Contains("tensor 'a' ends at byte"));
  CHECK_THAT(trouble_of(made_file(one, 9)), Contains("1 bytes follow the last tensor"));
  CHECK_THAT(trouble_of("abc"), Contains("exceed the file size"));
  CHECK_THAT(trouble_of(std::string(8, '\xff')), Contains("a header of"));
  CHECK_THAT(trouble_of(made_file("[]", 0)), Contains("not an object"));
  CHECK_THAT(trouble_of(made_file("{\"a\":", 0)), Contains("m.safetensors:1:"));
  CHECK_THAT(trouble_of(made_file(R"({"__metadata__":3})", 0)), Contains("__metadata__ is 3"));
  const auto changed = [](const std::string& dtype, const std::string& shape,
                          const std::string& offsets) {
    return trouble_of(made_file(R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape +
                                    R"(,"data_offsets":)" + offsets + "}}",
                                8));
  };
  CHECK_THAT(changed("F32", "[2]", "[4,12]"), Contains("begins at byte"));
  CHECK_THAT(changed("F32", "[3]", "[0,8]"), Contains("needs 12 bytes"));
  CHECK_THAT(changed("F32", "[2]", "[8,0]"), Contains("needs 8 bytes"));
  CHECK_THAT(changed("X32", "[2]", "[0,8]"), Contains("unknown type 'X32'"));
  CHECK_THAT(changed("F32", "[-2]", "[0,8]"), Contains("shape of tensor 'a' is -2"));
  CHECK_THAT(changed("F32", "[4294967296,4294967296,4294967296]", "[0,8]"),
             Contains("too many elements"));
  CHECK_THAT(changed("F32", "[2]", "[18446744073709551608,18446744073709551615]"),
             Contains("needs 8 bytes"));
}

TEST_CASE("only tensors of the expected size and of floating-point types are read") {
  const std::string text =
      made_file(R"({"i":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}})", 8);
  const SafetensorsFile file(as_read(text), "m");
  std::vector<float> two(2), three(3);
  CHECK_THROWS_WITH(file.read("j", two), Contains("no tensor 'j'"));
  CHECK_THROWS_WITH(file.read("i", three), Contains("has 2 elements, expected 3"));
  CHECK_THROWS_WITH(file.read("i", two), Contains("elements of type I32"));
}

namespace {

/// Every element has a value of its own: the parameter's number and the element's.
struct NumberedValues {
  std::map<std::string, int> numbers = {};

  explicit NumberedValues(const LlmShape& shape) {
    const Llm model = make_llm(shape, 1);
    for (const int id : model.graph->parameters())
      numbers.emplace(model.graph->tensor(id).name, static_cast<int>(numbers.size()));
  }
  float at(const std::string& name, std::int64_t element) const {
    return static_cast<float>(numbers.at(name)) * 10000.0f + static_cast<float>(element);
  }
  LlmValues values() const {
    return [this](const std::string& name, std::span<float> to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = at(name, static_cast<std::int64_t>(i));
    };
  }
};

constexpr LlmShape kLlama{.layers = 2,
                          .width = 8,
                          .hidden = 12,
                          .heads = 4,
                          .kv_heads = 2,
                          .sequence = 16,
                          .vocabulary = 10};
constexpr LlmShape kGpt2{.layers = 1,
                         .width = 8,
                         .hidden = 32,
                         .heads = 2,
                         .kv_heads = 2,
                         .sequence = 16,
                         .vocabulary = 10,
                         .gpt2 = true,
                         .tied_head = true};

std::vector<float> exported(const std::vector<SafetensorsInput>& all, const std::string& name,
                            std::vector<std::int64_t> shape) {
  const auto found = std::ranges::find(all, name, &SafetensorsInput::name);
  REQUIRE(found != all.end());
  CHECK(found->shape == shape);
  std::int64_t elements = 1;
  for (const std::int64_t length : shape) elements *= length;
  std::vector<float> values(static_cast<std::size_t>(elements));
  found->values(values);
  return values;
}

std::int64_t elements_of(const std::vector<SafetensorsInput>& all) {
  std::int64_t sum = 0;
  for (const SafetensorsInput& one : all)
    sum +=
        std::accumulate(one.shape.begin(), one.shape.end(), std::int64_t{1}, std::multiplies<>());
  return sum;
}

}  // namespace

TEST_CASE("a Llama has the names and layouts of transformers, and all of its parameters") {
  const NumberedValues numbered(kLlama);
  const auto all = llm_tensors(kLlama, numbered.values());
  CHECK(elements_of(all) == make_llm(kLlama, 1).graph->parameter_count());
  // q, k and v are the columns of wqkv [8, 8 + 4 + 4], one after another; rows there are outputs.
  const auto k = exported(all, "model.layers.1.self_attn.k_proj.weight", {4, 8});
  CHECK(k[0 * 8 + 3] == numbered.at("layer1.wqkv", 3 * 16 + 8));
  CHECK(k[2 * 8 + 5] == numbered.at("layer1.wqkv", 5 * 16 + 10));
  const auto v = exported(all, "model.layers.1.self_attn.v_proj.weight", {4, 8});
  CHECK(v[0] == numbered.at("layer1.wqkv", 12));
  const auto up = exported(all, "model.layers.0.mlp.up_proj.weight", {12, 8});
  CHECK(up[7 * 8 + 2] == numbered.at("layer0.w_gate_up", 2 * 24 + 12 + 7));
  const auto down = exported(all, "model.layers.0.mlp.down_proj.weight", {8, 12});
  CHECK(down[3 * 12 + 4] == numbered.at("layer0.w_down", 4 * 8 + 3));
  const auto head = exported(all, "lm_head.weight", {10, 8});
  CHECK(head[9 * 8 + 1] == numbered.at("head", 1 * 10 + 9));
  exported(all, "model.embed_tokens.weight", {10, 8});
  exported(all, "model.layers.0.post_attention_layernorm.weight", {8});
  exported(all, "model.norm.weight", {8});
  const Json config = llm_config(kLlama, Dtype::bf16);
  CHECK(config["architectures"] == Json{"LlamaForCausalLM"});
  CHECK(config["num_key_value_heads"] == 2);
  CHECK(config["torch_dtype"] == "bfloat16");
}

TEST_CASE("GPT-2 has the names of transformers, and its head only once") {
  const NumberedValues numbered(kGpt2);
  const auto all = llm_tensors(kGpt2, numbered.values());
  CHECK(elements_of(all) == make_llm(kGpt2, 1).graph->parameter_count());
  const auto qkv = exported(all, "transformer.h.0.attn.c_attn.weight", {8, 24});
  CHECK(qkv[5 * 24 + 17] == numbered.at("layer0.wqkv", 5 * 24 + 17));
  exported(all, "transformer.wpe.weight", {16, 8});
  CHECK(std::ranges::find(all, "lm_head.weight", &SafetensorsInput::name) == all.end());
  CHECK(llm_config(kGpt2, Dtype::f32)["activation_function"] == "gelu_new");
}

TEST_CASE("a shape that transformers lacks keeps its own names") {
  LlmShape shifted = kLlama;
  shifted.shifted_kv_heads = 1;
  CHECK_THAT(why_not_in_transformers(shifted), Contains("previous position"));
  const NumberedValues numbered(shifted);
  const auto all = llm_tensors(shifted, numbered.values());
  CHECK(elements_of(all) == make_llm(shifted, 1).graph->parameter_count());
  const auto qkv = exported(all, "layer0.wqkv", {8, 16});
  CHECK(qkv[17] == numbered.at("layer0.wqkv", 17));
  CHECK(llm_config(shifted, Dtype::f32)["shifted_kv_heads"] == 1);
}

TEST_CASE("an exported folder has weights, checksum and configuration") {
  const TemporaryDirectory folder;
  const NumberedValues numbered(kLlama);
  const ExportedLlm written =
      export_llm(folder.path() / "a" / "b", kLlama, numbered.values(), Dtype::f32, {{"seed", "1"}});
  CHECK(written.layout == "transformers");
  CHECK(written.file == folder.path() / "a" / "b" / "model.safetensors");
  const std::string text = read_file(written.file);
  CHECK(written.bytes == text.size());
  CHECK(read_file(folder.path() / "a" / "b" / "model.safetensors.sha256") ==
        sha256(text) + "  model.safetensors\n");
  CHECK(read_json(folder.path() / "a" / "b" / "config.json")["model_type"] == "llama");
  const SafetensorsFile file(as_read(text), "m");
  std::vector<float> norm(8);
  file.read("model.norm.weight", norm);
  CHECK(norm[7] == numbered.at("norm", 7));
  CHECK(file.metadata().at("seed") == "1");
}

TEST_CASE("a folder that cannot be written is an error of the environment") {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "file") << "x";
  const NumberedValues numbered(kLlama);
  try {
    export_llm(folder.path() / "file" / "sub", kLlama, numbered.values(), Dtype::f32, {});
    FAIL("written");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::environment);
    CHECK_THAT(error.what(), Contains("file/sub"));
  }
}

}  // namespace bench::training
