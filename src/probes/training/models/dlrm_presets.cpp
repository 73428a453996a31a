#include <string>

#include "core/error.h"
#include "probes/training/models/dlrm.h"

namespace bench::training {
namespace {

struct DlrmPreset {
  std::string_view name;
  DlrmShape shape;
};

/// dense, tables, width, bottom, top, cross layers, their rank.
const DlrmPreset kDlrmPresets[] = {
    {"tiny", {13, 12, 16, {64}, {64, 32}, 0, 0}},
    {"small", {13, 26, 64, {512, 256}, {512, 512, 256}, 3, 128}},
    {"standard", {13, 26, 128, {512, 256}, {1024, 1024, 512, 256}, 3, 512}},
};

}  // namespace

std::vector<std::string_view> dlrm_presets() {
  std::vector<std::string_view> names;
  for (const DlrmPreset& preset : kDlrmPresets) names.push_back(preset.name);
  return names;
}

DlrmShape dlrm_preset(std::string_view name) {
  std::string known;
  for (const DlrmPreset& preset : kDlrmPresets) {
    if (preset.name == name) return preset.shape;
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw Error(ErrorKind::input, "dlrm has no preset '" + std::string(name) + "'",
              "use one of " + known);
}

}  // namespace bench::training
