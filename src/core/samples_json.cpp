#include "core/samples_json.h"

#include <cmath>

#include "core/error.h"

namespace bench {
namespace {

constexpr std::int64_t kHighestFlags = 0xffff;

Json optional_number(const std::optional<double>& value) {
  return value ? number_or_null(*value) : Json(nullptr);
}

Json check_json(const Check& check) {
  return {{"method", check.method},
          {"error", number_or_null(check.error)},
          {"tolerance", number_or_null(check.tolerance)}};
}

Json quality_json(const Quality& quality) {
  return {{"cpu_share", optional_number(quality.cpu_share)},
          {"steal_share", optional_number(quality.steal_share)},
          {"throttled_s", optional_number(quality.throttled_s)},
          {"clock_hz", optional_number(quality.clock_hz)},
          {"others_share", optional_number(quality.others_share)},
          {"wall_s", optional_number(quality.wall_s)}};
}

std::optional<double> read_optional(Fields& fields, std::string_view key) {
  if (fields.find(key) == nullptr) return {};
  return fields.at_least(key, 0.0);
}

Check read_check(Fields fields) {
  Check check{fields.word("method"), fields.number_or_nan("error"),
              fields.number_or_nan("tolerance")};
  fields.finish();
  return check;
}

Quality read_quality(Fields fields) {
  Quality quality{read_optional(fields, "cpu_share"),    read_optional(fields, "steal_share"),
                  read_optional(fields, "throttled_s"),  read_optional(fields, "clock_hz"),
                  read_optional(fields, "others_share"), read_optional(fields, "wall_s")};
  fields.finish();
  return quality;
}

std::vector<double> read_values(Fields& fields) {
  const Json& array = fields.array("values");
  std::vector<double> values;
  values.reserve(array.size());
  for (const Json& value : array) {
    if (!value.is_number() && !value.is_null()) fields.refuse("values", "numbers or null", value);
    values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  }
  return values;
}

std::vector<unsigned> read_flags(Fields& fields) {
  const Json& array = fields.array("flags");
  std::vector<unsigned> flags;
  flags.reserve(array.size());
  for (const Json& element : array) {
    std::int64_t bits = 0;
    if (!read_integer(element, 0, kHighestFlags, bits))
      fields.refuse("flags", "integers from 0 to " + std::to_string(kHighestFlags), element);
    flags.push_back(static_cast<unsigned>(bits));
  }
  return flags;
}

Json values_json(const std::vector<double>& values) {
  Json array = Json::array();
  for (const double value : values) array.push_back(number_or_null(value));
  return array;
}

}  // namespace

Json to_json(const Limit& limit) {
  return {{"value", number_or_null(limit.value)},
          {"kind", to_string(limit.kind)},
          {"source", limit.source},
          {"clock_hz", optional_number(limit.clock_hz)}};
}

Limit read_limit(Fields fields) {
  Limit limit{fields.number("value"), fields.word_as("kind", limit_kind_from),
              fields.text_or("source", ""), read_optional(fields, "clock_hz")};
  fields.finish();
  return limit;
}

Limit limit_from_json(const Json& json) { return read_limit(Fields(json, "limit")); }

Json to_json(const Samples& samples) {
  Json json = {{"metric", samples.metric},
               {"unit", to_string(samples.unit)},
               {"better", to_string(samples.better)},
               {"params", samples.params},
               {"values", values_json(samples.values)},
               {"flags", samples.flags},
               {"over", samples.over},
               {"stop", samples.stop},
               {"repeats", samples.repeats},
               {"limit", samples.limit ? to_json(*samples.limit) : Json(nullptr)},
               {"check", samples.check ? check_json(*samples.check) : Json(nullptr)},
               {"quality", quality_json(samples.quality)},
               {"outcome", to_string(samples.outcome)},
               {"reason", samples.reason}};
  if (!samples.chosen.is_null()) json["chosen"] = samples.chosen;
  return json;
}

Samples read_samples(Fields& fields) {
  Samples samples;
  samples.metric = fields.word("metric");
  samples.unit = fields.word_as("unit", unit_from);
  samples.better = fields.word_as("better", better_from);
  samples.params = fields.object("params");
  samples.values = read_values(fields);
  samples.flags = read_flags(fields);
  if (samples.values.size() != samples.flags.size())
    throw Error(ErrorKind::input, fields.where("flags") + ": " +
                                      std::to_string(samples.flags.size()) + " flags for " +
                                      std::to_string(samples.values.size()) + " values");
  samples.over = fields.one_of("over", samples.over, {"rank", "max", "mean", "sum"});
  samples.stop = fields.text_or("stop", "");
  if (fields.has("repeats")) samples.repeats = fields.integer("repeats", 1, INT64_MAX);
  if (const Json* limit = fields.find("limit"))
    samples.limit = read_limit(fields.inside("limit", *limit));
  if (const Json* check = fields.find("check"))
    samples.check = read_check(fields.inside("check", *check));
  if (const Json* quality = fields.find("quality"))
    samples.quality = read_quality(fields.inside("quality", *quality));
  if (fields.find("chosen") != nullptr) samples.chosen = fields.object("chosen");
  if (fields.has("outcome")) samples.outcome = fields.word_as("outcome", status_from);
  samples.reason = fields.text_or("reason", "");
  return samples;
}

}  // namespace bench
