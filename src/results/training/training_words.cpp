#include "results/training/training_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

std::string counted(std::int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

std::string note_of(const TrainingReport& report) {
  if (report.groups.empty() && !report.diagnosed.empty())
    return "Steps of loader and checkpoint probes are emulated: this is not an MLPerf result.";
  const bool any = std::ranges::any_of(report.groups, is_external);
  const bool files = std::ranges::any_of(report.groups, on_files);
  std::vector<std::string> notes;
  const auto is_other = [](const TrainingGroup& group) {
    return is_external(group) || on_files(group);
  };
  if (report.groups.empty() || !std::ranges::all_of(report.groups, is_other))
    notes.emplace_back(
        "benchctl workloads are twins of MLPerf workloads on synthetic data with a known best attainable quality: they are not MLPerf results and must not be compared with any.");
  if (files)
    notes.emplace_back(
        "Trainings on files have no known best quality and are not MLPerf results either.");
  if (any)
    notes.emplace_back(
        "External trainings are reported from their own logs and are not MLPerf results until reviewed by MLCommons.");
  return join(notes, " ");
}

std::string items_word(const TrainingGroup& group) {
  return text_field(group.facts, "item", "sample") + "s";
}

std::string setup_words(const TrainingGroup& group) {
  const TrainingSetup& setup = group.setup;
  std::string text = fmt::format("{} {}, {}, {}, ", setup.workload, setup.preset, setup.dtype,
                                 setup.device == "host" ? "CPU" : setup.device);
  text += counted(setup.ranks, "rank");
  if (setup.on.size() > 1) text += fmt::format(" on {} hosts", setup.on.size());
  if (setup.lanes > 0) text += " with " + counted(setup.lanes, "thread");
  if (setup.batch > 0) text += fmt::format(", batch {}", setup.batch);
  if (setup.steps > 0) return text + ", " + counted(setup.steps, "step");
  if (std::isfinite(setup.target)) text += fmt::format(", target gap {:.4g}", setup.target);
  return text;
}

std::string mean_words(const OlympicMean& time) {
  if (!std::isfinite(time.mean)) return time.why;
  std::string text =
      time.trimmed ? fmt::format("olympic mean of {} of {} runs, without the fastest and the slowest",
                                 time.kept, time.runs)
                   : fmt::format("plain mean of {}: an olympic mean needs three runs",
                                 counted(static_cast<std::int64_t>(time.runs), "run"));
  if (time.without > 0) text += " (not converged)";
  if (!time.why.empty()) return text + "; " + time.why;
  return text + (time.trimmed ? "; 95 % confidence interval (Yuen's trimmed mean)"
                              : "; 95 % confidence interval (Student's t)");
}

std::string peak_words(const TrainingGroup& group) {
  const Json& peak = object_field(group.facts, "peak_flops");
  const double value = number_field(peak, "value");
  if (!(value > 0.0)) return "";
  return fmt::format("{} {}: {}", format(value, Unit::flop_per_second),
                     text_field(peak, "kind", "unknown kind"),
                     text_field(peak, "source", "unknown source"));
}

double of_gemm(const TrainingGroup& group) { return group.flops / group.gemm.flops; }

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "";
}

std::string value_text(double value, Unit unit) {
  return std::isfinite(value) ? format(value, unit) : "";
}

std::string interval_text(double low, double high, Unit unit) {
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  return fmt::format(" [{}, {}]", format(low, unit), format(high, unit));
}

std::string rate_number(double value) {
  if (!std::isfinite(value)) return "";
  if (std::abs(value) >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  if (std::abs(value) >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (std::abs(value) >= 1e3) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string rate_text(double value, const TrainingGroup& group) {
  const std::string number = rate_number(value);
  return number.empty() ? "" : number + " " + printable(items_word(group)) + "/s";
}

std::string efficiency_text(double value, double low, double high) {
  if (!std::isfinite(value)) return "";
  std::string text = fmt::format("{:.1f} %", 100.0 * value);
  if (std::isfinite(low) && std::isfinite(high))
    text += fmt::format(" [{:.1f}, {:.1f}]", 100.0 * low, 100.0 * high);
  return text;
}

std::string phase_words(const std::string& phase) {
  std::string text = printable(phase);
  std::ranges::replace(text, '_', ' ');
  return text;
}

}  // namespace bench
