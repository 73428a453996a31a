#include "probes/training/workloads/dlrm_recipes.h"

#include "probes/training/models/dlrm.h"

namespace bench::training {
namespace {

/// Found by trials on seeds other than evidence's: a rate of 2e-3 (tables 0.05) needs nearly
/// twice the samples, a batch of 1024 as many and more time, one of 4096 a fifth more.
DlrmSetting tiny_setting() {
  DlrmSetting setting;
  setting.clicks = tiny_clicks();
  setting.tables.deviation = 0.03;
  setting.tables.rate_factor = 33.0;
  setting.dense.beta2 = 0.99;
  Recipe& recipe = setting.recipe;
  recipe.batch = 2048;
  recipe.micro_batch = 256;  // a lane's data fits into the level 2 cache
  recipe.horizon = 2000;
  recipe.schedule = {Schedule::Shape::linear_last, 6e-3, 0, recipe.horizon};
  recipe.target = 0.008;
  recipe.target_source =
      "between 0.052, which every feature's effect without interactions reaches, and what the "
      "whole "
      "horizon reaches; docs/workloads/dlrm.md";
  recipe.evaluation_every = 32;
  recipe.evaluation_samples = 32768;
  return setting;
}

/// Targets of small and standard are provisional: rare rows keep the floor out of reach, so a target
/// must come from reference runs.
DlrmSetting small_setting() {
  DlrmSetting setting;
  setting.clicks = small_clicks();
  setting.tables.deviation = 0.02;
  setting.tables.rate_factor = 10.0;
  setting.dense.beta2 = 0.99;
  Recipe& recipe = setting.recipe;
  recipe.batch = 16384;
  recipe.micro_batch = 256;
  recipe.horizon = 20000;
  recipe.schedule = {Schedule::Shape::linear_last, 1e-3, 500, recipe.horizon};
  recipe.target = 0.02;
  recipe.evaluation_every = 400;
  recipe.evaluation_samples = 262144;
  return setting;
}

DlrmSetting standard_setting() {
  DlrmSetting setting = small_setting();
  setting.clicks = standard_clicks();
  Recipe& recipe = setting.recipe;
  recipe.batch = 65536;
  recipe.evaluation_samples = 524288;
  return setting;
}

}  // namespace

DlrmSetting dlrm_setting(const std::string& preset) {
  dlrm_preset(preset);  // throws for an unknown name
  if (preset == "tiny") return tiny_setting();
  return preset == "small" ? small_setting() : standard_setting();
}

}  // namespace bench::training
