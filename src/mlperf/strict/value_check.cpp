// value.*: types, finite numbers, placeholders.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/text.h"
#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

enum class Kind { text, number, not_negative, integer, positive_integer };

const std::unordered_map<std::string_view, Kind> kKinds = {
    {"submission_benchmark", Kind::text},
    {"submission_org", Kind::text},
    {"submission_division", Kind::text},
    {"submission_status", Kind::text},
    {"submission_platform", Kind::text},
    {"opt_name", Kind::text},
    {"opt_sparse_name", Kind::text},
    {"opt_learning_rate_decay_schedule", Kind::text},
    {"global_batch_size", Kind::positive_integer},
    {"gradient_accumulation_steps", Kind::positive_integer},
    {"local_batch_size", Kind::positive_integer},
    {"micro_batch_size", Kind::positive_integer},
    {"tensor_parallelism", Kind::positive_integer},
    {"pipeline_parallelism", Kind::positive_integer},
    {"context_parallelism", Kind::positive_integer},
    {"expert_parallelism", Kind::positive_integer},
    {"max_sequence_length", Kind::positive_integer},
    {"max_steps", Kind::positive_integer},
    {"train_samples", Kind::positive_integer},
    {"eval_samples", Kind::positive_integer},
    {"lora_rank", Kind::positive_integer},
    {"lora_alpha", Kind::not_negative},
    {"evaluation_frequency", Kind::positive_integer},
    {"init_checkpoint_step", Kind::integer},
    {"eval_accuracy", Kind::number},
    {"opt_learning_rate_warmup_steps", Kind::integer},
    {"opt_learning_rate_decay_steps", Kind::integer},
    {"opt_learning_rate_training_steps", Kind::integer},
};

/// Other hyperparameters must be numbers if the benchmark's rules require them; a framework may log
/// further ones of any type.
std::optional<Kind> kind_of(const Subject& subject, std::string_view key) {
  if (const auto at = kKinds.find(key); at != kKinds.end()) return at->second;
  if (!key.starts_with("opt_")) return std::nullopt;
  const auto section = subject.rules.sections.find("closed/" + subject.facts.benchmark);
  if (section == subject.rules.sections.end() || !section->second.keys.contains(key))
    return std::nullopt;
  return Kind::not_negative;
}

std::string_view name_of(Kind kind) {
  constexpr std::array kNames = {"a string", "a number", "a non-negative number", "an integer",
                                 "a positive integer"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Accepts 1.0 as an integer, because many logs have it. Non-finite numbers have their own rule.
bool matches_kind(Kind kind, const PythonValue& value) {
  if (kind == Kind::text) return value.is_string();
  if (value.is_bool() || !value.is_number()) return false;
  const double number = value.number();
  if (kind == Kind::number || !std::isfinite(number)) return true;
  if (kind == Kind::not_negative) return number >= 0;
  // Some frameworks log -1 for no steps.
  return number == std::floor(number) && (kind == Kind::integer || number > 0);
}

bool is_finite(const PythonValue& value) {
  return !value.is_float() || std::isfinite(value.number());
}

bool is_placeholder(std::string_view text) {
  constexpr std::array kWhole = {"TODO", "TBD",      "FIXME", "N/A",     "NA",
                                 "NONE", "NULL",     "XXX",   "UNKNOWN", "DUMMY",
                                 "ORG",  "PLATFORM", "TEST",  "NAME",    "CHANGEME"};
  const std::string upper_text = to_upper(text);
  if (upper_text.find("PLACEHOLDER") != std::string::npos || upper_text.starts_with("YOUR_") ||
      upper_text.starts_with("YOUR ") || (upper_text.starts_with("<") && upper_text.ends_with(">")))
    return true;
  return std::find(kWhole.begin(), kWhole.end(), upper_text) != kWhole.end();
}

void check_finite(const LogEntry& entry, std::vector<Finding>& findings) {
  const auto check_number = [&](std::string_view what, const PythonValue& value) {
    if (is_finite(value)) return;
    add_finding(
        findings, &entry, "value.finite", Severity::error,
        {"a finite number", value.excerpt(),
         fmt::format("{} is not finite: the training diverged, or the logging is wrong", what)});
  };
  check_number("the value", entry.value);
  for (const char* name : {"samples_count", "epoch_num"})
    if (const PythonValue* value = entry.metadata.find(name)) check_number(name, *value);
}

void check_type(const Subject& subject, const LogEntry& entry, std::vector<Finding>& findings) {
  const std::optional<Kind> kind = kind_of(subject, entry.key);
  if (!kind || matches_kind(*kind, entry.value)) return;
  // The official checker accepts such logs; only its convergence test needs the batch as a number.
  add_finding(findings, &entry, "value.type",
              entry.key == "global_batch_size" ? Severity::error : Severity::warning,
              {name_of(*kind), entry.value.excerpt(),
               fmt::format("the value of {} must be {}", entry.key, name_of(*kind))});
}

void check_position(const LogEntry& entry, std::vector<Finding>& findings) {
  if (entry.key != "eval_accuracy") return;
  for (const char* name : {"samples_count", "epoch_num"}) {
    const PythonValue* value = entry.metadata.find(name);
    if (value == nullptr || (matches_kind(Kind::number, *value) && !(value->number() < 0)))
      continue;
    add_finding(findings, &entry, "value.position", Severity::error,
                {"a non-negative number", value->excerpt(),
                 fmt::format("{} of an evaluation must be a non-negative number", name)});
  }
}

void check_placeholder(const LogEntry& entry, std::vector<Finding>& findings) {
  if (!entry.key.starts_with("submission_") || !is_placeholder(entry.value.text())) return;
  add_finding(findings, &entry, "value.placeholder", Severity::warning,
              {entry.key == "submission_org" ? "the submitter's name" : "a real name",
               entry.value.excerpt(), fmt::format("{} still has a placeholder value", entry.key)});
}

void check_submission_status(const LogEntry& entry, std::vector<Finding>& findings) {
  const std::string_view status = entry.value.text();
  if (entry.key != "submission_status" || !entry.value.is_string() || status == "onprem" ||
      status == "cloud" || status == "research" || is_placeholder(status))
    return;
  add_finding(findings, &entry, "value.status", Severity::warning,
              {"onprem, cloud or research", entry.value.excerpt(),
               "submission_status is not one that MLPerf defines"});
}

void check_event_type(const LogEntry& entry, std::vector<Finding>& findings) {
  if (entry.event_type == "POINT_IN_TIME" || entry.event_type == "INTERVAL_START" ||
      entry.event_type == "INTERVAL_END")
    return;
  add_finding(
      findings, &entry, "value.event_type", Severity::warning,
      {"POINT_IN_TIME, INTERVAL_START or INTERVAL_END", PythonValue(entry.event_type).excerpt(),
       "event_type is missing or not one that MLPerf defines"});
}

void check_time_type(const LogEntry& entry, std::vector<Finding>& findings) {
  constexpr std::string_view kName = "\"time_ms\"";
  std::size_t at = entry.text.find(kName);
  if (at == std::string_view::npos) return;
  at = entry.text.find_first_not_of(" \t:", at + kName.size());
  if (at == std::string_view::npos || entry.text[at] != '"') return;
  add_finding(findings, &entry, "value.type", Severity::warning,
              {"a number", "a string", "time_ms is a string; the MLPerf logger writes a number"});
}

}  // namespace

void check_values(const Subject& subject, std::vector<Finding>& findings) {
  for (const LogEntry& entry : subject.log.entries) {
    check_finite(entry, findings);
    check_type(subject, entry, findings);
    check_position(entry, findings);
    check_placeholder(entry, findings);
    check_submission_status(entry, findings);
    check_event_type(entry, findings);
    check_time_type(entry, findings);
  }
}

}  // namespace bench::mlperf
