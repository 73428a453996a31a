#include "probes/training/workloads/dlrm_recipes.h"

#include "probes/training/models/dlrm.h"

namespace bench::training {
namespace {

DlrmSetting tiny_setting() {
  DlrmSetting setting;
  setting.clicks = tiny_clicks();
  setting.tables.deviation = 0.1;
  setting.tables.rate_factor = 25.0;
  setting.dense.beta2 = 0.99;
  Recipe& recipe = setting.recipe;
  recipe.batch = 1024;
  recipe.horizon = 6000;
  recipe.schedule = {Schedule::Shape::linear_last, 2e-3, 0, recipe.horizon};
  recipe.target = 0.008;
  recipe.evaluation_every = 128;
  recipe.evaluation_samples = 65536;
  return setting;
}

DlrmSetting small_setting() {
  DlrmSetting setting;
  setting.clicks = small_clicks();
  setting.tables.deviation = 0.02;
  setting.tables.rate_factor = 10.0;
  setting.dense.beta2 = 0.99;
  Recipe& recipe = setting.recipe;
  recipe.batch = 16384;
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
  dlrm_preset(preset);  // names what there is
  if (preset == "tiny") return tiny_setting();
  return preset == "small" ? small_setting() : standard_setting();
}

}  // namespace bench::training
