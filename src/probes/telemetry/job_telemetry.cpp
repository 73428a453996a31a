#include "probes/telemetry/job_telemetry.h"

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "probes/telemetry/error_counters.h"

namespace bench {
namespace {

constexpr Seconds kLongerThanAnyJob{1e6};  // then there are two readings: the first and the last
constexpr double kTimeGrains = 1e6;        // in a second; more digits only make the record longer

/// The first value that is a number; 0 where there is none.
double first_known(const std::vector<double>& values) {
  const auto known =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
  return known == values.end() ? 0.0 : *known;
}

}  // namespace

JobTelemetry::JobTelemetry(const TelemetrySettings& settings, Seconds now,
                           const SourceFactory& sources)
    : settings_(settings) {
  if (!settings.enabled && !settings.counters) return;
  begin_ = telemetry_clock();
  offset_ = begin_ - now.value;
  RecorderSettings recorder;
  if (settings.enabled) {
    recorder.period = Seconds{settings.period_s};
    sampler_ = std::make_unique<SamplerThread>(sources, recorder);
  } else {
    recorder.period = kLongerThanAnyJob;
    sampler_ =
        std::make_unique<SamplerThread>([sources] { return error_sources(sources()); }, recorder);
  }
}

std::vector<decltype(Record::body)> JobTelemetry::finish(const std::vector<Span>& spans) {
  std::vector<decltype(Record::body)> records;
  if (sampler_ == nullptr) return records;
  const Telemetry telemetry = sampler_->stop();
  sampler_.reset();
  if (settings_.counters)
    counters_ = telemetry.problem.empty()
                    ? counter_totals(telemetry.recordings, telemetry.wall.value)
                    : Json{{"problem", telemetry.problem}};
  if (!settings_.enabled) return records;
  std::vector<PhaseSpan> phases = {{"job", Json::object(), begin_, telemetry_clock()}};
  for (const Span& span : spans)
    phases.push_back(
        {span.phase, span.params, span.begin.value + offset_, span.end.value + offset_});
  for (const Recording& recording : telemetry.recordings)
    records.emplace_back(to_chunk(recording, begin_));
  records.emplace_back(Facts{"telemetry", summarise_job(telemetry, phases)});
  return records;
}

Chunk to_chunk(const Recording& recording, double begin) {
  Json columns = Json::object();
  Json& times = columns["time_s"] = Json::array();
  for (const double time : recording.times)
    times.push_back(std::round((time - begin) * kTimeGrains) / kTimeGrains);
  for (std::size_t i = 0; i < recording.columns.size(); ++i) {
    const bool counts = recording.columns[i].kind == CounterColumn::counter;
    const double zero = counts ? first_known(recording.values[i]) : 0.0;
    Json& cells = columns[recording.columns[i].name] = Json::array();
    for (const double value : recording.values[i]) cells.push_back(number_or_null(value - zero));
  }
  return {"telemetry." + recording.source, columns};
}

Json summarise_job(const Telemetry& telemetry, const std::vector<PhaseSpan>& spans) {
  if (!telemetry.problem.empty()) return {{"problem", telemetry.problem}};
  Json recordings = Json::object();
  for (const Recording& recording : telemetry.recordings)
    recordings[recording.source] = {{"period_s", recording.period.value},
                                    {"readings", recording.times.size()},
                                    {"late", recording.late}};
  // Of one core. What it costs the workload only a comparison with telemetry off can say.
  return {{"cpu_s", telemetry.cpu.value},
          {"cpu_share", number_or_null(telemetry.cpu / telemetry.wall)},
          {"recordings", recordings},
          {"phases", summarise_phases(telemetry.recordings, spans)}};
}

}  // namespace bench
