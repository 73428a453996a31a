#include "mlperf/log/run_facts.h"

namespace bench::mlperf {
namespace {

/// The target members for values of single lines.
struct TextFact {
  std::string_view key;
  std::string RunFacts::*fact;
};

constexpr TextFact kTextFacts[] = {{"submission_benchmark", &RunFacts::benchmark},
                                   {"submission_division", &RunFacts::division},
                                   {"submission_org", &RunFacts::org},
                                   {"submission_platform", &RunFacts::platform},
                                   {"submission_status", &RunFacts::submission_status}};

void take_texts(RunFacts& facts, const Log& log) {
  for (const auto& [key, fact] : kTextFacts)
    if (const LogEntry* entry = first_entry(log, key)) facts.*fact = entry->value.text();
  if (const LogEntry* batch = last_entry(log, "global_batch_size"))
    if (batch->value.is_number()) facts.global_batch_size = batch->value.number();
}

void take_init(RunFacts& facts, const Log& log) {
  if (const LogEntry* start = first_entry(log, "init_start")) facts.init_start_ms = start->time_ms;
  if (const LogEntry* stop = first_entry(log, "init_stop")) facts.init_stop_ms = stop->time_ms;
}

void take_run(RunFacts& facts, const Log& log) {
  for (const LogEntry& entry : log.entries) {
    if (entry.key == "run_start") {
      facts.run_start_ms = entry.time_ms;
      facts.run_start_line = entry.line;
    } else if (entry.key == "run_stop") {
      facts.run_stop_ms = entry.time_ms;
      facts.run_stop_line = entry.line;
    }
    if (facts.run_start_ms && facts.run_stop_ms) break;
  }
  facts.started = facts.run_start_ms.has_value();
  facts.stopped = facts.run_stop_ms.has_value();
  if (facts.started && facts.stopped)
    facts.minutes = (*facts.run_stop_ms - *facts.run_start_ms) / 60 / 1000;
}

Evaluation evaluation_of(const LogEntry& entry) {
  return {entry.line,
          entry.time_ms,
          entry.key,
          entry.value,
          metadata_number(entry, "samples_count"),
          metadata_number(entry, "epoch_num")};
}

void take_evaluations(RunFacts& facts, const Log& log) {
  for (const LogEntry& entry : log.entries) {
    if (entry.key == "eval_accuracy" || entry.key == "eval_error")
      facts.evaluations.push_back(evaluation_of(entry));
    if (entry.key != "run_stop") continue;
    facts.status = metadata_text(entry, "status");
    if (!facts.evaluations.empty()) facts.last_before_stop = facts.evaluations.back();
  }
}

bool is_evaluated_before_named(const Log& log) {
  const LogEntry* named = first_entry(log, "submission_benchmark");
  const LogEntry* evaluation = first_entry(log, "eval_accuracy");
  return named != nullptr && evaluation != nullptr && evaluation->line < named->line;
}

Seed seed_of(const LogEntry& entry) {
  const PythonValue* file = entry.metadata.find("file");
  const PythonValue* code_line = entry.metadata.find("lineno");
  Seed seed{.line = entry.line, .value = entry.value};
  seed.has_place = file != nullptr && code_line != nullptr;
  if (file != nullptr) seed.file = file->is_string() ? std::string(file->text()) : file->repr();
  if (code_line != nullptr) seed.code_line = code_line->repr();
  return seed;
}

}  // namespace

std::optional<double> metadata_number(const LogEntry& entry, std::string_view key) {
  const PythonValue* value = entry.metadata.find(key);
  if (value == nullptr || !value->is_number()) return {};
  return value->number();
}

std::string_view metadata_text(const LogEntry& entry, std::string_view key) {
  const PythonValue* value = entry.metadata.find(key);
  return value == nullptr ? std::string_view() : value->text();
}

RunFacts facts_of(const Log& log) {
  RunFacts facts;
  take_texts(facts, log);
  take_init(facts, log);
  take_run(facts, log);
  take_evaluations(facts, log);
  facts.evaluated_before_named = is_evaluated_before_named(log);
  for (const LogEntry& entry : log.entries)
    if (entry.key == "seed") facts.seeds.push_back(seed_of(entry));
  return facts;
}

}  // namespace bench::mlperf
