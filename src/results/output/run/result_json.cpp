#include "results/output/run/result_json.h"

#include <algorithm>

#include "core/fields.h"

namespace bench {
namespace {

Json optional_number(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json();
}

Json quality_json(const Series& series) {
  return {{"cpu_share", optional_number(series.quality.cpu_share)},
          {"steal_share", optional_number(series.quality.steal_share)},
          {"throttled_s", optional_number(series.quality.throttled_s)},
          {"clock_hz", optional_number(series.quality.clock_hz)},
          {"others_share", optional_number(series.quality.others_share)},
          {"flags", series.flags}};
}

Json check_json(const std::optional<Check>& check) {
  if (!check) return {};
  return {{"method", check->method},
          {"error", number_or_null(check->error)},
          {"tolerance", number_or_null(check->tolerance)}};
}

void add_identity(const Series& series, Json& json) {
  const bool measured = !series.metric.empty();
  json["job"] = series.job;
  json["case"] = series.case_name;
  json["probe"] = series.probe;
  json["metric"] = text_or_null(series.metric);
  json["params"] = series.params;
  json["host"] = series.host;
  json["device"] = series.device;
  json["ranks"] = std::max(series.ranks, 1);
  json["rank"] = series.rank < 0 ? Json() : Json(series.rank);
  json["repeat"] = series.repeat;
  json["over"] = text_or_null(series.over);
  json["unit"] = measured ? Json(to_string(series.unit)) : Json();
  json["better"] = measured ? Json(to_string(series.better)) : Json();
}

void add_statistics(const Series& series, Json& json) {
  json["n"] = series.n;
  json["clean"] = series.clean;
  json["median"] = number_or_null(series.median);
  json["low"] = number_or_null(series.low);
  json["high"] = number_or_null(series.high);
  json["min"] = number_or_null(series.min);
  json["p5"] = number_or_null(series.p5);
  json["mean"] = number_or_null(series.mean);
  json["std"] = number_or_null(series.std);
  json["p95"] = number_or_null(series.p95);
  json["p99"] = number_or_null(series.p99);
  json["max"] = number_or_null(series.max);
  json["unfiltered_median"] = number_or_null(series.unfiltered_median);
  json["stop"] = text_or_null(series.stop);
  json["repeats"] = series.repeats;
}

}  // namespace

Json to_json(const Result& result) {
  const Series& series = result.series;
  Json json = Json::object();
  add_identity(series, json);
  add_statistics(series, json);
  json["limit"] = series.limit ? number_or_null(series.limit->value) : Json();
  json["limit_kind"] = series.limit ? Json(to_string(series.limit->kind)) : Json();
  json["limit_source"] = series.limit ? text_or_null(series.limit->source) : Json();
  json["of_limit"] = number_or_null(series.of_limit);
  json["of_limit_at_clock"] = number_or_null(series.of_limit_at_clock);
  json["check"] = check_json(series.check);
  json["quality"] = quality_json(series);
  json["chosen"] = series.chosen;
  json["derived"] = series.derived;
  json["telemetry"] = to_json(result.telemetry);
  json["outcome"] = to_string(series.outcome);
  json["reason"] = text_or_null(series.reason);
  json["verdict"] = result.verdict ? Json(to_string(*result.verdict)) : Json();
  return json;
}

}  // namespace bench
