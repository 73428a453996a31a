#include "results/import/collected_series.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/json.h"

namespace bench {

void mark_invalid(Samples& samples, const std::string& wrong) {
  if (wrong.empty()) return;
  samples.outcome = Status::invalid;
  samples.reason = wrong;
}

std::string identity_of(const ImportedJob& job) {
  return dump({job.run, job.tool, job.name, job.device, job.hosts, job.ranks, job.repeat});
}

std::string identity_of(const ImportedJob& job, const Samples& samples) {
  return identity_of(job) + dump({job.rank, samples.metric, samples.params, samples.over});
}

void CollectedSeries::add(const ImportedJob& job, Samples samples) {
  const auto [at, is_new] = known_.try_emplace(identity_of(job, samples), series_.size());
  if (is_new) {
    series_.emplace_back(job, std::move(samples));
    return;
  }
  Samples& all = series_[at->second].second;
  all.values.insert(all.values.end(), samples.values.begin(), samples.values.end());
  all.flags.insert(all.flags.end(), samples.flags.begin(), samples.flags.end());
  if (worse(all.outcome, samples.outcome) != all.outcome) {
    all.outcome = samples.outcome;
    all.reason = samples.reason;
    all.check = samples.check;
  }
}

void CollectedSeries::emit(ImportSink& sink) const {
  for (const auto& [job, samples] : series_) sink.series(job, samples);
}

void CollectedSeries::emit(ImportSink& sink, const std::string& file, const char* tool) const {
  if (empty()) throw Error(ErrorKind::input, fmt::format("{}: no {} results found", file, tool));
  emit(sink);
}

Samples one_value(const std::string& metric, Unit unit, Better better, const Json& params,
                  double value) {
  if (!std::isfinite(value))
    throw Error(ErrorKind::input, metric + ": a value overflows in its base unit");
  Samples samples;
  samples.metric = metric;
  samples.unit = unit;
  samples.better = better;
  samples.params = params;
  samples.values = {value};
  samples.flags = {kClean};
  samples.stop = "imported";
  return samples;
}

}  // namespace bench
