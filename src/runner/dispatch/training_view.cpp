#include "runner/dispatch/training_view.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/run/training_gauges.h"
#include "results/verdicts/training/mllog_files.h"
#include "results/verdicts/training/training_summary.h"

namespace bench {
namespace {

std::string time_left(const TrainingProgress& progress) {
  const auto steps = static_cast<double>(progress.last_step - progress.step);
  if (!(steps > 0.0) || !(progress.step_s > 0.0)) return "";
  const double seconds = steps * progress.step_s;
  return seconds < 100.0 ? fmt::format("< {:.0f} s left", std::ceil(seconds))
                         : fmt::format("< {:.0f} min left", std::ceil(seconds / 60.0));
}

std::string gap_text(const TrainingProgress& progress) {
  if (!progress.gap) return "";
  const std::string target = progress.target ? fmt::format(" (to {:.4g})", *progress.target) : "";
  return fmt::format("gap {:.4g}{}", *progress.gap, target);
}

}  // namespace

void TrainingView::start(const PlanEntry& entry) {
  started_[entry.job.id] = {{"case", entry.job.case_name},
                            {"job", entry.job.id},
                            {"params", dump(entry.axes)},
                            {"hosts", compact_hostlist(entry.job.hosts)}};
}

std::string TrainingView::line_of(const Training& training) {
  const TrainingProgress& now = training.progress;
  std::vector<std::string> parts;
  if (now.step > 0) {
    parts.push_back(now.last_step > 0 ? fmt::format("step {}/{}", now.step, now.last_step)
                                      : fmt::format("step {}", now.step));
    parts.push_back(rate_number(now.items_per_second) + " " + printable(now.item) + "s/s");
    if (training.slow)
      parts.push_back(fmt::format("slow since step {} ({})", training.slow->first,
                                  growth_text(*training.slow)));
    // What matters most first: narrow terminals cut the rest.
    for (std::string part :
         {gap_text(now), time_left(now),
          now.mfu ? fmt::format("MFU {:.0f} %", 100.0 * *now.mfu) : std::string(),
          std::isfinite(now.loss) ? fmt::format("loss {:.4g}", now.loss) : std::string()})
      if (!part.empty()) parts.push_back(std::move(part));
  }
  if (!training.evaluation.empty()) parts.push_back(training.evaluation);
  return join(parts, ", ");
}

/// A line of MLPerf's log; false for other lines than evaluations.
bool TrainingView::take_evaluation(Training& training, const Json& line) {
  const std::string key = text_field(line, "key");
  if (key != "eval_accuracy" && key != "eval_error") return false;
  const double value = number_field(line, "value");
  const Json& metadata = object_field(line, "metadata");
  const double samples = number_field(metadata, "samples_count");
  const double epoch = number_field(metadata, "epoch_num");
  const std::int64_t time_ms = integer_field(line, "time_ms");
  const double seconds = static_cast<double>(time_ms - training.evaluated_ms) / 1e3;
  training.evaluation = fmt::format("{} {:.4g}", key, value);
  if (std::isfinite(samples)) {
    training.evaluation += fmt::format(" after {} samples", rate_number(samples));
    if (training.samples && samples > *training.samples && seconds > 0.0) {
      training.samples_per_second = (samples - *training.samples) / seconds;
      training.evaluation +=
          fmt::format(", {} samples/s", rate_number(*training.samples_per_second));
    }
    training.samples = samples;
  } else if (std::isfinite(epoch)) {
    training.evaluation += fmt::format(" after {:.4g} epochs", epoch);
  }
  if (std::isfinite(value)) training.quality = value;
  training.evaluated_ms = time_ms;
  return true;
}

std::optional<TrainingView::News> TrainingView::take(const std::string& job, const Record& record) {
  const auto* event = std::get_if<Event>(&record.body);
  const auto started = started_.find(job);
  if (event == nullptr || started == started_.end()) return {};
  Training next = trainings_.contains(job) ? trainings_.at(job) : Training{started->second};
  next.time_ns = record.time_ns;
  News news;
  if (event->key == kTrainingProgressEvent) {
    const auto progress = training_progress_from(event->value);
    if (!progress) return {};
    next.progress = *progress;
  } else if (event->key == kTrainingSlowdownEvent) {
    const auto slowdown = training_slowdown_from(event->value);
    if (!slowdown) return {};
    news.notice = to_text(*slowdown);
    next.slow = slowdown->end ? std::nullopt : slowdown;
  } else if (event->key != kMllogEvent || next.progress.step > 0 ||
             !take_evaluation(next, event->value)) {
    return {};
  }
  news.line = line_of(next);
  trainings_[job] = std::move(next);
  return news;
}

bool TrainingView::show(const Job& job, const Record& record, Progress& progress) {
  const auto news = take(job.id, record);
  if (!news) return false;
  if (!news->notice.empty()) progress.notice(job, news->notice);
  progress.note(job, news->line);
  return true;
}

bool TrainingView::finish(const std::string& job) {
  started_.erase(job);
  const auto found = trainings_.find(job);
  if (found != trainings_.end()) found->second.running = false;
  return found != trainings_.end();
}

std::string TrainingView::gauges(const std::string& run) const {
  TrainingGauges gauges;
  for (const auto& [job, training] : trainings_) {
    GaugeLabels labels = {{"run", run}};
    labels.insert(labels.end(), training.labels.begin(), training.labels.end());
    const auto add = [&](const char* name, std::optional<double> value) {
      gauges.add(name, labels, value);
    };
    const TrainingProgress& now = training.progress;
    add("running", training.running ? 1.0 : 0.0);
    add("report_timestamp_seconds", static_cast<double>(training.time_ns) / 1e9);
    add("quality", training.quality);
    add("samples", training.samples);
    add("samples_per_second", training.samples_per_second);
    if (now.step == 0) continue;
    add("step", static_cast<double>(now.step));
    if (now.last_step > 0) add("last_step", static_cast<double>(now.last_step));
    add("elapsed_seconds", now.seconds);
    add("step_seconds", now.step_s);
    add("loss", now.loss);
    add("gap", now.gap);
    add("target_gap", now.target);
    add("mfu_ratio", now.mfu);
    add("slow", training.slow ? 1.0 : 0.0);
    if (training.slow) add("slow_since_step", static_cast<double>(training.slow->first));
    labels.emplace_back("item", now.item);
    add("items_per_second", now.items_per_second);
  }
  return gauges.text();
}

}  // namespace bench
