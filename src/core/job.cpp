#include "core/job.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/fields.h"
#include "core/samples_json.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr int kMostRanks = 10'000'000;
constexpr int kMostRails = 1023;
constexpr double kShortestPeriod = 0.01;  // seconds; more frequent reads disturb the job
constexpr double kLongestTimeout = 1e7;   // seconds; four months

Json known_limit(const KnownLimit& known) {
  return {{"metric", known.metric}, {"params", known.params}, {"limit", to_json(known.limit)}};
}

Json known_result(const KnownResult& known) {
  return {{"key", known.key}, {"hash", known.hash}, {"source", known.source}};
}

std::vector<std::string> read_hosts(Fields& fields) {
  std::vector<std::string> hosts;
  for (const Json& host : fields.array("hosts")) {
    if (!host.is_string() || host.get_ref<const std::string&>().empty())
      fields.refuse("hosts", "names of hosts", host);
    hosts.push_back(host.get<std::string>());
  }
  return hosts;
}

/// A word for device or card, a number for the rail.
Json read_part(Fields fields) {
  Json part = Json::object();
  for (const char* key : {"device", "card"})
    if (fields.has(key)) part[key] = fields.word(key);
  if (fields.has("rail")) part["rail"] = fields.integer("rail", 0, kMostRails);
  fields.finish();
  return part;
}

/// Only such names are passed on unchanged by every shell and launcher.
bool is_variable_name(const std::string& name) {
  const auto allowed = [](char c) { return c == '_' || is_letter(c) || is_digit(c); };
  return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, allowed);
}

std::map<std::string, std::string> read_env(Fields& fields) {
  std::map<std::string, std::string> env;
  for (const auto& [name, value] : fields.object("env").items()) {
    if (!is_variable_name(name)) fields.refuse("env", "names of variables", name);
    if (!value.is_string() || value.get_ref<const std::string&>().find('\0') != std::string::npos)
      fields.refuse("env", "texts without NUL", value);
    env[name] = value.get<std::string>();
  }
  return env;
}

std::vector<KnownLimit> read_limits(Fields& fields) {
  std::vector<KnownLimit> limits;
  for (const Json& json : fields.array("limits")) {
    const std::string key = "limits/" + std::to_string(limits.size());
    Fields known = fields.inside(key, json);
    limits.push_back({known.word("metric"), known.object("params"),
                      read_limit(known.inside("limit", known.any("limit")))});
    known.finish();
  }
  return limits;
}

std::vector<KnownResult> read_golden(Fields& fields) {
  std::vector<KnownResult> golden;
  for (const Json& json : fields.array("golden")) {
    const std::string place = "golden/" + std::to_string(golden.size());
    Fields known = fields.inside(place, json);
    golden.push_back({known.object("key"), known.word("hash"), known.text_or("source", "")});
    if (!is_result_hash(golden.back().hash))
      known.refuse("hash", "16 hexadecimal digits", golden.back().hash);
    known.finish();
  }
  return golden;
}

double timeout_from(Fields& fields) {
  const double timeout = fields.above("timeout_s", 0.0);
  if (timeout > kLongestTimeout) fields.refuse("timeout_s", "at most 1e7 seconds", timeout);
  return timeout;
}

MeasureSettings read_measure(Fields fields) {
  const auto count = [&](std::string_view key, int fallback) {
    constexpr auto kMost = static_cast<std::int64_t>(kMaxArray);
    return fields.has(key) ? static_cast<int>(fields.integer(key, 1, kMost)) : fallback;
  };
  MeasureSettings settings;
  settings.min_clean = count("min_clean", settings.min_clean);
  settings.max_samples = count("max_samples", settings.max_samples);
  if (fields.has("interval")) settings.interval = fields.above("interval", 0.0);
  if (fields.has("min_time_s")) settings.min_time_s = fields.at_least("min_time_s", 0.0);
  if (fields.has("max_time_s")) settings.max_time_s = fields.above("max_time_s", 0.0);
  if (fields.has("warm_up_max_s")) settings.warm_up_max_s = fields.at_least("warm_up_max_s", 0.0);
  if (fields.has("min_sample_s")) settings.min_sample_s = fields.at_least("min_sample_s", 0.0);
  fields.finish();
  return settings;
}

bool read_flag(Fields& fields, const char* key) {
  const Json* flag = fields.find(key);
  if (flag == nullptr) return false;
  if (!flag->is_boolean()) fields.refuse(key, "true or false", *flag);
  return flag->get<bool>();
}

TelemetrySettings read_telemetry(Fields fields) {
  TelemetrySettings settings;
  settings.enabled = read_flag(fields, "enabled");
  settings.counters = read_flag(fields, "counters");
  if (fields.has("period_s")) settings.period_s = fields.at_least("period_s", kShortestPeriod);
  fields.finish();
  return settings;
}

}  // namespace

bool is_result_hash(const std::string& text) {
  const auto digit = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return text.size() == 16 && std::ranges::all_of(text, digit);
}

Json to_json(const MeasureSettings& settings) {
  return {{"min_clean", settings.min_clean},      {"interval", settings.interval},
          {"max_samples", settings.max_samples},  {"min_time_s", settings.min_time_s},
          {"max_time_s", settings.max_time_s},    {"warm_up_max_s", settings.warm_up_max_s},
          {"min_sample_s", settings.min_sample_s}};
}

MeasureSettings measure_settings_from_json(const Json& json) {
  return read_measure(Fields(json, "measure"));
}

Json to_json(const TelemetrySettings& settings) {
  return {{"enabled", settings.enabled},
          {"period_s", settings.period_s},
          {"counters", settings.counters}};
}

TelemetrySettings telemetry_settings_from_json(const Json& json) {
  return read_telemetry(Fields(json, "telemetry"));
}

Json to_json(const Job& job) {
  Json limits = Json::array();
  for (const KnownLimit& known : job.limits) limits.push_back(known_limit(known));
  Json golden = Json::array();
  for (const KnownResult& known : job.golden) golden.push_back(known_result(known));
  return {{"id", job.id},
          {"case_name", job.case_name},
          {"probe", job.probe},
          {"device", job.device},
          {"params", job.params.get()},
          {"hosts", job.hosts},
          {"part", job.part},
          {"ranks", job.ranks},
          {"binding", job.binding},
          {"env", job.env},
          {"seed", job.seed},
          {"repeat", job.repeat},
          {"timeout_s", job.timeout_s},
          {"measure", to_json(job.measure)},
          {"telemetry", to_json(job.telemetry)},
          {"limits", std::move(limits)},
          {"golden", std::move(golden)}};
}

Job job_from_json(const Json& json) {
  Fields fields(json, "job");
  Job job;
  job.id = fields.word("id");
  job.case_name = fields.text_or("case_name", "");
  job.probe = fields.word("probe");
  job.device = fields.one_of("device", job.device, {"host", "cuda"});
  job.params = fields.object("params");
  if (fields.has("hosts")) job.hosts = read_hosts(fields);
  if (fields.has("part")) job.part = read_part(fields.inside("part", fields.any("part")));
  if (fields.has("ranks")) job.ranks = static_cast<int>(fields.integer("ranks", 1, kMostRanks));
  job.binding = fields.one_of("binding", job.binding, {"none", "core", "socket", "share"});
  if (fields.has("env")) job.env = read_env(fields);
  if (fields.has("seed")) job.seed = fields.natural("seed");
  if (fields.has("repeat"))
    job.repeat = static_cast<int>(fields.integer("repeat", 0, std::numeric_limits<int>::max()));
  if (fields.has("timeout_s")) job.timeout_s = timeout_from(fields);
  if (fields.has("measure"))
    job.measure = read_measure(fields.inside("measure", fields.any("measure")));
  if (fields.has("telemetry"))
    job.telemetry = read_telemetry(fields.inside("telemetry", fields.any("telemetry")));
  if (fields.has("limits")) job.limits = read_limits(fields);
  if (fields.has("golden")) job.golden = read_golden(fields);
  fields.finish();
  return job;
}

}  // namespace bench
