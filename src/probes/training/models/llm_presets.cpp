#include <string>

#include "core/error.h"
#include "probes/training/models/llm.h"

namespace bench::training {
namespace {

struct Preset {
  std::string_view name;
  LlmShape shape;
};

/// layers, width, hidden, heads, kv heads, sequence, vocabulary, gpt2, tied, shifted heads, theta.
const Preset kPresets[] = {
    // Half of the heads see shifted keys: without, induction is learned late and suddenly, and
    // the time to target depends on luck.
    {"tiny", {2, 64, 256, 4, 4, 64, 64, false, false, 2, 1e3}},
    {"small", {12, 768, 2048, 12, 4, 1024, 32768, false, false, 2, 1e4}},
    {"gpt2", {12, 768, 3072, 12, 12, 1024, 50257, true, true, 0, 0.0}},
    {"1b", {16, 2048, 8192, 32, 8, 4096, 128256, false, true, 0, 5e5}},
    {"standard", {32, 4096, 14336, 32, 8, 8192, 128256, false, false, 0, 5e5}},
};

}  // namespace

std::vector<std::string_view> llm_presets() {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) names.push_back(preset.name);
  return names;
}

LlmShape llm_preset(std::string_view name) {
  std::string known;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset.shape;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw Error(ErrorKind::input, "llm has no preset '" + std::string(name) + "'", "use one of " + known);
}

}  // namespace bench::training
