#include "devices/counters/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench {

Recorder::Recorder(CounterSources sources, const RecorderSettings& settings)
    : sources_(std::move(sources)), most_rows_(std::max<std::size_t>(settings.most_rows, 4)) {
  for (const auto& source : sources_) {
    Recording recording;
    recording.source = source->name();
    recording.columns = source->columns();
    recording.period = std::max(settings.period, source->least_period());
    recording.values.resize(recording.columns.size());
    recording.times.reserve(most_rows_);
    for (auto& column : recording.values) column.reserve(most_rows_);
    recordings_.push_back(std::move(recording));
  }
  due_.assign(sources_.size(), -std::numeric_limits<double>::infinity());
}

double Recorder::next_due() const {
  return due_.empty() ? std::numeric_limits<double>::infinity()
                      : *std::min_element(due_.begin(), due_.end());
}

void Recorder::tick(double now) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (due_[i] > now) continue;
    const double period = recordings_[i].period.value;
    const bool first = std::isinf(due_[i]);
    if (!first && now - due_[i] > 0.5 * period) ++recordings_[i].late;
    read(i, now);
    // Missed readings are not repeated; the schedule is kept.
    const double since = first ? now : due_[i];
    const double next = recordings_[i].period.value;  // reading may have thinned it
    due_[i] = since + next * (std::floor((now - since) / next) + 1.0);
  }
}

void Recorder::tick_all(double now) {
  for (std::size_t i = 0; i < sources_.size(); ++i) read(i, now);
}

void Recorder::read(std::size_t index, double now) {
  Recording& recording = recordings_[index];
  if (!recording.times.empty() && now <= recording.times.back()) return;
  if (recording.times.size() >= most_rows_) thin(recording);
  row_.assign(recording.columns.size(), std::numeric_limits<double>::quiet_NaN());
  sources_[index]->read(row_);
  recording.times.push_back(now);
  for (std::size_t column = 0; column < row_.size(); ++column)
    recording.values[column].push_back(row_[column]);
}

void Recorder::thin(Recording& recording) {
  const auto keep_every_second = [](std::vector<double>& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); i += 2) values[kept++] = values[i];
    values.resize(kept);
  };
  keep_every_second(recording.times);
  for (auto& column : recording.values) keep_every_second(column);
  recording.period = recording.period * 2.0;
}

}  // namespace bench
