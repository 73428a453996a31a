#include "results/verdicts/training/training_records.h"

#include <algorithm>
#include <cmath>

#include "core/json.h"

namespace bench {
namespace {

/// Upper bound for chunks of unknown origin.
constexpr std::size_t kMostRows = 100'000;
constexpr double kMostSamples = 1e18;

const Chunk* chunk_named(const TrainingRecords& records, const char* name) {
  const auto found = records.chunks.find(name);
  return found == records.chunks.end() ? nullptr : found->second;
}

/// Cell `row` of a column, or null.
const Json& cell(const Chunk& chunk, const char* column, std::size_t row) {
  static const Json none;
  const Json& values = array_field(chunk.columns, column);
  return row < values.size() ? values[row] : none;
}

double number_at(const Chunk& chunk, const char* column, std::size_t row) {
  const Json& value = cell(chunk, column, row);
  return value.is_number() ? value.get<double>() : kNoValue;
}

std::string text_at(const Chunk& chunk, const char* column, std::size_t row) {
  const Json& value = cell(chunk, column, row);
  return value.is_null() ? "" : text_of(value);
}

std::size_t rows_of(const Chunk* chunk, const char* column) {
  return chunk == nullptr ? 0 : std::min(array_field(chunk->columns, column).size(), kMostRows);
}

}  // namespace

std::map<std::string, TrainingRecords> training_records(const RunRecords& run) {
  std::map<std::string, TrainingRecords> by_job;
  for (const Record& record : run.records) {
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts != nullptr && facts->topic == "training" && facts->facts.is_object())
      by_job[record.job].facts.update(facts->facts);
    if (const auto* chunk = std::get_if<Chunk>(&record.body))
      by_job[record.job].chunks[chunk->name] = chunk;
  }
  return by_job;
}

std::vector<CurvePoint> curve_of(const TrainingRecords& records) {
  std::vector<CurvePoint> curve;
  const Chunk* chunk = chunk_named(records, "curve");
  for (std::size_t i = 0; i < rows_of(chunk, "samples"); ++i) {
    const CurvePoint point{number_at(*chunk, "samples", i), number_at(*chunk, "seconds", i),
                           number_at(*chunk, "gap", i), number_at(*chunk, "native", i)};
    const bool drawn = point.samples >= 0.0 && point.samples < kMostSamples;
    if (drawn && std::isfinite(point.gap)) curve.push_back(point);
  }
  return curve;
}

std::vector<TrainingPhase> breakdown_of(const TrainingRecords& records) {
  std::vector<TrainingPhase> phases;
  const Chunk* chunk = chunk_named(records, "breakdown");
  for (std::size_t i = 0; i < rows_of(chunk, "phase"); ++i)
    phases.push_back({text_at(*chunk, "phase", i), number_at(*chunk, "seconds", i),
                      number_at(*chunk, "share", i), text_at(*chunk, "slowest_rank", i)});
  return phases;
}

std::vector<TrainingMemory> memory_of(const TrainingRecords& records) {
  std::vector<TrainingMemory> memory;
  const Chunk* chunk = chunk_named(records, "memory");
  for (std::size_t i = 0; i < rows_of(chunk, "label"); ++i)
    memory.push_back({text_at(*chunk, "label", i), number_at(*chunk, "bytes", i)});
  return memory;
}

}  // namespace bench
