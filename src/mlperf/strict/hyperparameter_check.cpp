// hyperparameter.fixed: values that the rules' tables fix and the official checker does not check.
// Only warnings, because by the rules the checker takes precedence.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double logged(const Log& log, std::string_view key) {
  const LogEntry* entry = last_entry(log, key);
  return entry == nullptr ? kUnknown : entry->value.number();
}

double tenth_of_base(const Log& log) { return 0.1 * logged(log, "opt_base_learning_rate"); }

double warmup_steps_405b(const Log& log) {
  return std::ceil(8000.0 * 1152.0 / logged(log, "global_batch_size"));
}

struct Fixed {
  std::string_view benchmark;
  const char* key;
  double value = kUnknown;
  double (*of)(const Log&) = nullptr;  // computed from other hyperparameters
  std::string_view formula = {};
  /// 6.0 also allows the default of its reference implementation.
  double also_in_6_0 = kUnknown;
};

constexpr std::string_view kTenth = "0.1 * opt_base_learning_rate";
constexpr std::array kFixed = {
    Fixed{"gpt_oss_20b", "opt_end_learning_rate", kUnknown, tenth_of_base, kTenth, 4e-5},
    Fixed{"llama2_70b_lora", "lora_alpha", 32},
    Fixed{"llama2_70b_lora", "opt_adamw_weight_decay", 1e-4},
    Fixed{"llama2_70b_lora", "opt_gradient_clip_norm", 0.3},
    Fixed{"llama31_405b", "opt_end_learning_rate", 8e-7},
    Fixed{"llama31_405b", "opt_learning_rate_warmup_steps", kUnknown, warmup_steps_405b,
          "ceil(8000 * 1152 / global_batch_size)"},
    Fixed{"llama31_8b", "opt_end_learning_rate", kUnknown, tenth_of_base, kTenth},
};

/// Logged values are rounded: 8.888888888888889e-05.
bool nearly_equal(double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); }

}  // namespace

void check_hyperparameters(const Subject& subject, std::vector<Finding>& findings) {
  if (!subject.closed()) return;
  for (const Fixed& fixed : kFixed) {
    if (fixed.benchmark != subject.facts.benchmark) continue;
    const LogEntry* entry = last_entry(subject.log, fixed.key);
    const double expected = fixed.of == nullptr ? fixed.value : fixed.of(subject.log);
    if (entry == nullptr || !entry->value.is_number() || !std::isfinite(expected)) continue;
    const double found = entry->value.number();
    if (!std::isfinite(found) || nearly_equal(found, expected)) continue;
    if (subject.rules.version == "6.0.0" && nearly_equal(found, fixed.also_in_6_0)) continue;
    add_finding(findings, entry, "hyperparameter.fixed", Severity::warning,
                {fixed.formula.empty() ? fmt::format("{}", expected)
                                       : fmt::format("{} = {:.10g}", fixed.formula, expected),
                 entry->value.excerpt(),
                 "the rules fix this value, but the official checker does not check it",
                 "training_rules: Hyperparameters"});
  }
}

}  // namespace bench::mlperf
