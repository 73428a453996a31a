#include "training/checkpoint/llm_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/page_cache.h"
#include "core/sha256.h"
#include "devices/host_clock.h"
#include "training/checkpoint/atomic_file.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// Keeps the last parameter that was read: several tensors are parts of one.
class LastParameter {
 public:
  explicit LastParameter(LlmValues values) : values_(std::move(values)) {}

  const std::vector<float>& of(const std::string& name, std::int64_t elements) {
    if (name_ == name) return last_;
    last_ = {};  // before the next one is there
    last_.resize(static_cast<std::size_t>(elements));
    values_(name, last_);
    name_ = name;
    return last_;
  }

 private:
  LlmValues values_;
  std::string name_ = {};
  std::vector<float> last_ = {};
};

/// Columns [first, first + count) of a parameter [rows, columns], as [count, rows].
SafetensorsInput transposed_columns(std::string name, const std::string& parameter,
                                    std::int64_t rows, std::int64_t columns, std::int64_t first,
                                    std::int64_t count,
                                    const std::shared_ptr<LastParameter>& parameters) {
  constexpr std::int64_t kBlock = 32;  // rows whose lines stay in the cache
  return {std::move(name), {count, rows}, [=](std::span<float> to) {
            const float* all = parameters->of(parameter, rows * columns).data();
            for (std::int64_t begin = 0; begin < rows; begin += kBlock)
              for (std::int64_t column = 0; column < count; ++column)
                for (std::int64_t row = begin; row < std::min(begin + kBlock, rows); ++row)
                  to[static_cast<std::size_t>(column * rows + row)] =
                      all[row * columns + first + column];
          }};
}

/// A parameter as it is.
SafetensorsInput as_it_is(std::string name, const std::string& parameter,
                          std::vector<std::int64_t> shape, const LlmValues& values) {
  return {std::move(name), std::move(shape), [=](std::span<float> to) { values(parameter, to); }};
}

std::vector<SafetensorsInput> llama_tensors(const LlmShape& shape, const LlmValues& values) {
  const std::int64_t d = shape.width, head = d / shape.heads, kv = shape.kv_heads * head;
  const std::int64_t packed = d + 2 * kv, hidden = shape.hidden;
  const auto parameters = std::make_shared<LastParameter>(values);
  std::vector<SafetensorsInput> all = {
      as_it_is("model.embed_tokens.weight", "embedding", {shape.vocabulary, d}, values)};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string at = fmt::format("layer{}.", layer);
    const std::string to = fmt::format("model.layers.{}.", layer);
    const auto qkv = [&](const char* name, std::int64_t first, std::int64_t count) {
      all.push_back(transposed_columns(to + "self_attn." + name + ".weight", at + "wqkv", d, packed,
                                       first, count, parameters));
    };
    const auto mlp = [&](const char* name, std::int64_t first) {
      all.push_back(transposed_columns(to + "mlp." + name + ".weight", at + "w_gate_up", d,
                                       2 * hidden, first, hidden, parameters));
    };
    all.push_back(as_it_is(to + "input_layernorm.weight", at + "norm1", {d}, values));
    qkv("q_proj", 0, d);
    qkv("k_proj", d, kv);
    qkv("v_proj", d + kv, kv);
    all.push_back(
        transposed_columns(to + "self_attn.o_proj.weight", at + "wo", d, d, 0, d, parameters));
    all.push_back(as_it_is(to + "post_attention_layernorm.weight", at + "norm2", {d}, values));
    mlp("gate_proj", 0);
    mlp("up_proj", hidden);
    all.push_back(transposed_columns(to + "mlp.down_proj.weight", at + "w_down", hidden, d, 0, d,
                                     parameters));
  }
  all.push_back(as_it_is("model.norm.weight", "norm", {d}, values));
  if (!shape.tied_head)
    all.push_back(transposed_columns("lm_head.weight", "head", d, shape.vocabulary, 0,
                                     shape.vocabulary, parameters));
  return all;
}

std::vector<SafetensorsInput> gpt2_tensors(const LlmShape& shape, const LlmValues& values) {
  const std::int64_t d = shape.width, hidden = shape.hidden;
  std::vector<SafetensorsInput> all = {
      as_it_is("transformer.wte.weight", "embedding", {shape.vocabulary, d}, values),
      as_it_is("transformer.wpe.weight", "positions", {shape.sequence, d}, values)};
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string at = fmt::format("layer{}.", layer);
    const std::string to = fmt::format("transformer.h.{}.", layer);
    const auto add = [&](const char* name, const char* parameter,
                         std::vector<std::int64_t> lengths) {
      all.push_back(as_it_is(to + name, at + parameter, std::move(lengths), values));
    };
    add("ln_1.weight", "norm1", {d});
    add("ln_1.bias", "norm1.bias", {d});
    add("attn.c_attn.weight", "wqkv", {d, 3 * d});
    add("attn.c_attn.bias", "wqkv.bias", {3 * d});
    add("attn.c_proj.weight", "wo", {d, d});
    add("attn.c_proj.bias", "wo.bias", {d});
    add("ln_2.weight", "norm2", {d});
    add("ln_2.bias", "norm2.bias", {d});
    add("mlp.c_fc.weight", "w_up", {d, hidden});
    add("mlp.c_fc.bias", "w_up.bias", {hidden});
    add("mlp.c_proj.weight", "w_down", {hidden, d});
    add("mlp.c_proj.bias", "w_down.bias", {d});
  }
  all.push_back(as_it_is("transformer.ln_f.weight", "norm", {d}, values));
  all.push_back(as_it_is("transformer.ln_f.bias", "norm.bias", {d}, values));
  return all;
}

/// By the graph's names and shapes.
std::vector<SafetensorsInput> native_tensors(const LlmShape& shape, const LlmValues& values) {
  const Llm model = make_llm(shape, 1);
  std::vector<SafetensorsInput> all;
  for (const int id : model.graph->parameters()) {
    const auto& tensor = model.graph->tensor(id);
    all.push_back(
        as_it_is(tensor.name, tensor.name, {tensor.shape.rows(), tensor.shape.columns()}, values));
  }
  return all;
}

std::string torch_type(Dtype dtype) {
  if (dtype == Dtype::bf16) return "bfloat16";
  return dtype == Dtype::f16 ? "float16" : "float32";
}

Json native_config(const LlmShape& shape) {
  return {{"layers", shape.layers},         {"width", shape.width},
          {"hidden", shape.hidden},         {"heads", shape.heads},
          {"kv_heads", shape.kv_heads},     {"shifted_kv_heads", shape.shifted_kv_heads},
          {"sequence", shape.sequence},     {"vocabulary", shape.vocabulary},
          {"rope_theta", shape.rope_theta}, {"norm_epsilon", kNormEpsilon},
          {"tied_head", shape.tied_head}};
}

Json gpt2_config(const LlmShape& shape) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"activation_function", "gelu_new"},
          {"n_embd", shape.width},
          {"n_head", shape.heads},
          {"n_layer", shape.layers},
          {"n_inner", shape.hidden},
          {"n_positions", shape.sequence},
          {"vocab_size", shape.vocabulary},
          {"layer_norm_epsilon", kNormEpsilon},
          {"tie_word_embeddings", shape.tied_head}};
}

Json llama_config(const LlmShape& shape) {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"hidden_act", "silu"},
          {"hidden_size", shape.width},
          {"intermediate_size", shape.hidden},
          {"num_hidden_layers", shape.layers},
          {"num_attention_heads", shape.heads},
          {"num_key_value_heads", shape.kv_heads},
          {"head_dim", shape.width / shape.heads},
          {"max_position_embeddings", shape.sequence},
          {"vocab_size", shape.vocabulary},
          {"rms_norm_eps", kNormEpsilon},
          {"rope_theta", shape.rope_theta},
          {"attention_bias", false},
          {"mlp_bias", false},
          {"tie_word_embeddings", shape.tied_head}};
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 22;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::environment, "cannot open " + path.string());
  std::vector<char> piece(kPiece);
  Sha256 hash;
  while (file.read(piece.data(), kPiece) || file.gcount() > 0)
    hash.update(std::as_bytes(std::span(piece.data(), static_cast<std::size_t>(file.gcount()))));
  if (file.bad()) throw Error(ErrorKind::environment, "cannot read " + path.string());
  return hash.finish();
}

}  // namespace

std::string why_not_in_transformers(const LlmShape& shape) {
  if (shape.shifted_kv_heads > 0)
    return fmt::format("{} of its heads see keys of the previous position", shape.shifted_kv_heads);
  return "";
}

std::vector<SafetensorsInput> llm_tensors(const LlmShape& shape, const LlmValues& values) {
  if (!why_not_in_transformers(shape).empty()) return native_tensors(shape, values);
  return shape.gpt2 ? gpt2_tensors(shape, values) : llama_tensors(shape, values);
}

Json llm_config(const LlmShape& shape, Dtype dtype) {
  if (!why_not_in_transformers(shape).empty()) return native_config(shape);
  Json config = shape.gpt2 ? gpt2_config(shape) : llama_config(shape);
  config["torch_dtype"] = torch_type(dtype);
  return config;
}

void prepare_export(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot create " + folder.string() + ": " + failure.message(),
                "choose another folder");
  AtomicFile(folder / "model.safetensors").write(std::vector<std::byte>(1));  // not committed
}

ExportedLlm export_llm(const std::filesystem::path& folder, const LlmShape& shape,
                       const LlmValues& values, Dtype dtype,
                       const std::map<std::string, std::string>& metadata) {
  const Seconds begin = steady_now();
  prepare_export(folder);
  ExportedLlm exported{folder / "model.safetensors"};
  exported.layout = why_not_in_transformers(shape).empty() ? "transformers" : "native";
  // An export that ends early leaves no folder that looks complete.
  const std::filesystem::path sum = folder / "model.safetensors.sha256",
                              config = folder / "config.json";
  std::error_code missing;
  std::filesystem::remove(config, missing);
  std::filesystem::remove(sum, missing);
  const WrittenSafetensors written =
      write_safetensors(exported.file, llm_tensors(shape, values), dtype, metadata);
  exported.bytes = written.bytes;
  exported.sha256 = written.sha256;
  exported.seconds = (steady_now() - begin).value;
  evict(exported.file);  // what is read then comes from the storage, if the kernel allows
  if (const std::string found = sha256_of_file(exported.file); found != written.sha256)
    throw Error(ErrorKind::environment,
                fmt::format("{} was written with the checksum {} and reads back with {}",
                            exported.file.string(), written.sha256, found),
                "check the storage below it");
  write_text_file(sum, written.sha256 + "  model.safetensors\n");
  write_text_file(config, llm_config(shape, dtype).dump(2) + "\n");
  return exported;
}

}  // namespace bench::training
