#include "results/scaling/scaling_output.h"

namespace bench {
namespace {

/// {"value": 0.016, "low": 0.0153, "high": 0.0166, "on_bound": false}.
Json interval_json(const FitParameter& parameter) {
  return {{"low", parameter.low}, {"high", parameter.high}, {"on_bound", parameter.on_bound}};
}

Json fit_json(const ScalingFit& fit) {
  Json json = {
      {"model", fit.model},
      {"parameters", {{"lambda", fit.lambda.value}, {"alpha", fit.alpha.value}}},
      {"intervals", {{"lambda", interval_json(fit.lambda)}, {"alpha", interval_json(fit.alpha)}}},
      {"deviation", fit.deviation},
      {"aicc", fit.aicc},
      {"best_n", fit.best_n()}};
  if (fit.model == "usl") {
    json["parameters"]["beta"] = fit.beta.value;
    json["intervals"]["beta"] = interval_json(fit.beta);
  }
  return json;
}

Json point_json(const ScalePoint& point) {
  return {{"n", point.n},
          {"runs", point.values.size()},
          {"value", point.value.value},
          {"low", point.value.low},
          {"high", point.value.high},
          {"efficiency", point.efficiency.value},
          {"efficiency_low", point.efficiency.low},
          {"efficiency_high", point.efficiency.high},
          {"speed_up", point.speed_up},
          {"karp_flatt", point.karp_flatt},
          {"communication", point.communication},
          {"samples_penalty", point.samples_penalty},
          {"time_efficiency", point.time_efficiency}};
}

Json curve_json(const ScalingCurve& curve) {
  Json json = {{"metric", curve.metric},
               {"params", curve.params},
               {"device", curve.device},
               {"host", text_or_null(curve.host)},
               {"case", text_or_null(curve.case_name)},
               {"over", curve.over},
               {"kind", text_or_null(curve.kind)},
               {"law", to_string(curve.law)},
               {"unit", std::string(to_string(curve.unit))},
               {"better", std::string(to_string(curve.better))},
               {"base", curve.base},
               {"points", Json::array()},
               {"fit", curve.fits.empty() ? Json() : fit_json(curve.fits.front())},
               {"other_fit", curve.fits.size() < 2 ? Json() : fit_json(curve.fits[1])},
               {"fit_reason", curve.fit_words},
               {"serial", curve.serial},
               {"predictions", Json::array()},
               {"interval", curve.interval}};
  for (const ScalePoint& point : curve.points) json["points"].push_back(point_json(point));
  for (const ScalingPrediction& at : curve.predictions)
    json["predictions"].push_back(
        {{"n", at.n}, {"value", at.rate}, {"low", at.low}, {"high", at.high}});
  json["times"] = curve.times ? Json{{"constant_s", curve.times->constant},
                                     {"per_log_s", curve.times->per_log},
                                     {"per_worker_s", curve.times->per_worker}}
                              : Json();
  return json;
}

}  // namespace

Json to_json(const ScalingReport& report) {
  Json json = {{"runs", report.runs},
               {"over", report.over},
               {"series", Json::array()},
               {"warnings", report.warnings},
               {"exit_code", static_cast<int>(report.exit_code)}};
  for (const ScalingCurve& curve : report.curves) json["series"].push_back(curve_json(curve));
  return json;  // NaN is printed as null
}

}  // namespace bench
