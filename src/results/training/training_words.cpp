// What text and page say in the same words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/training/training_output.h"

namespace bench {
namespace {

std::string counted(std::int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

}  // namespace

bool is_external(const TrainingGroup& group) {
  const Json& external = field(group.facts, "external");
  return external.is_boolean() && external.get<bool>();
}

bool on_files(const TrainingGroup& group) {
  return text_field(object_field(group.facts, "data"), "kind") == "files";
}

std::string note_of(const TrainingReport& report) {
  if (report.groups.empty() && !report.diagnosed.empty())
    return "Steps beside loaders and checkpoints are emulated: this is no MLPerf result.";
  const bool any = std::ranges::any_of(report.groups, is_external);
  const bool files = std::ranges::any_of(report.groups, on_files);
  std::vector<std::string> notes;
  const auto is_other = [](const TrainingGroup& group) {
    return is_external(group) || on_files(group);
  };
  if (report.groups.empty() || !std::ranges::all_of(report.groups, is_other))
    notes.emplace_back(
        "The workloads of benchctl are twins of MLPerf workloads, on synthetic data whose best "
        "attainable quality is known: they are not MLPerf results, and must not be compared with "
        "any.");
  if (files)
    notes.emplace_back(
        "What benchctl trains on files has no known best quality, and is no MLPerf result either.");
  if (any)
    notes.emplace_back(
        "What external trainings did is told by their own logs: not MLPerf results either, as long "
        "as MLCommons has not reviewed them.");
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
  if (setup.lanes > 0) text += " of " + counted(setup.lanes, "thread");
  if (setup.batch > 0) text += fmt::format(", batch {}", setup.batch);
  if (setup.steps > 0) return text + ", " + counted(setup.steps, "step");
  if (std::isfinite(setup.target)) text += fmt::format(", target gap {:.4g}", setup.target);
  return text;
}

std::string mean_words(const OlympicMean& time) {
  if (!std::isfinite(time.mean)) return time.why;
  std::string text =
      time.trimmed ? fmt::format("olympic mean: {} of {} runs, without the fastest and the slowest",
                                 time.kept, time.runs)
                   : fmt::format("plain mean of {}: an olympic mean takes three runs",
                                 counted(static_cast<std::int64_t>(time.runs), "run"));
  if (time.without > 0) text += " (which did not converge)";
  if (!time.why.empty()) return text + "; " + time.why;
  return text + (time.trimmed ? "; 95 % interval by Yuen's standard error of a trimmed mean"
                              : "; 95 % interval by Student's t");
}

std::string peak_words(const TrainingGroup& group) {
  const Json& peak = object_field(group.facts, "peak_flops");
  const double value = number_field(peak, "value");
  if (!(value > 0.0)) return "";
  return fmt::format("{} {}: {}", format(value, Unit::flop_per_second),
                     text_field(peak, "kind", "of unknown kind"),
                     text_field(peak, "source", "of unknown source"));
}

double of_gemm(const TrainingGroup& group) { return group.flops / group.gemm.flops; }

}  // namespace bench
