// A language model of models/llm.h as a folder that other tools load: model.safetensors with its
// checksum, and config.json. Shapes that transformers knows (LlamaForCausalLM, GPT2LMHeadModel)
// have its names and layouts; others have the names of the graph's parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/json.h"
#include "training/checkpoint/safetensors.h"
#include "training/models/llm.h"

namespace bench::training {

/// Why transformers has no model of this shape; "" if it has.
std::string why_not_in_transformers(const LlmShape& shape);

/// In the order of the layers. Matrices of a Llama are [outputs, inputs] there and queries, keys
/// and values separate, as are gate and up; GPT-2's are as here.
std::vector<SafetensorsInput> llm_tensors(const LlmShape& shape, const LlmValues& values);

/// config.json of transformers; of another shape the shape itself. `dtype`: of the weights.
Json llm_config(const LlmShape& shape, Dtype dtype);

struct ExportedLlm {
  std::filesystem::path file = {};  // model.safetensors
  std::uint64_t bytes = 0;
  std::string sha256 = {};
  double seconds = 0.0;     // until the weights are on the disk
  std::string layout = {};  // "transformers" or "native"
};

/// Creates `folder` and writes a byte there, to find out before a training what would fail after
/// it. Throws Error(environment).
void prepare_export(const std::filesystem::path& folder);

/// Creates `folder` and writes model.safetensors, reads it back and compares it with its checksum,
/// then writes model.safetensors.sha256 (for sha256sum --check) and, last, config.json. Memory: one
/// tensor and one parameter in f32. Throws Error(environment), and Error(input) as
/// write_safetensors() does.
ExportedLlm export_llm(const std::filesystem::path& folder, const LlmShape& shape,
                       const LlmValues& values, Dtype dtype,
                       const std::map<std::string, std::string>& metadata);

}  // namespace bench::training
