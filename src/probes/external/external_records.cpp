#include "probes/external/external_records.h"

#include <cmath>

#include "core/fields.h"
#include "core/text.h"

namespace bench {
namespace {

using namespace external;

Json or_null(const std::optional<double>& value) { return value ? number_or_null(*value) : Json(); }
Json or_null(const std::optional<Seconds>& time) {
  return time ? number_or_null(time->value) : Json();
}

/// Zero or less if the target was met; empty without an evaluation or a target.
std::optional<double> final_gap(const TrainingLog& log) {
  if (log.evaluations().empty() || !log.goal().target) return {};
  // The run ends at the evaluation that met the target; ranks may log others after it.
  const LoggedEvaluation* met = log.meeting();
  return log.goal().gap((met != nullptr ? *met : log.evaluations().back()).value);
}

void write_quality(State& state, const TrainingLog& log) {
  const auto gap = final_gap(log);
  if (gap && std::isfinite(*gap)) state.value("quality", *gap);
  if (!log.evaluations().empty() && std::isfinite(log.evaluations().back().value))
    state.value("native_quality", log.evaluations().back().value);
}

void write_series(State& state, const TrainingLog& log, const Verdict& verdict,
                  const Conditions& conditions) {
  const Json none = Json::object();
  const JudgedSeries judged = state.under(conditions);
  if (auto speed = log.throughput(); !speed.values.empty())
    judged.values("items_per_second", std::move(speed.values), {{"from", speed.source}});
  write_quality(state, log);
  if (const auto init = log.init_time(); init && init->value >= 0.0)
    judged.value("init_time", init->value);
  if (!verdict.converged) {
    const std::string& why = verdict.status == Status::ok ? verdict.why_not : verdict.reason;
    state.skip_series("time_to_target", none, why);
    return state.skip_series("samples_to_target", none, why);
  }
  judged.value("time_to_target", log.run_time()->value);
  if (const auto samples = log.samples_at(*log.meeting()))
    state.value("samples_to_target", *samples);
  else
    state.skip_series("samples_to_target", none,
                      "its log has no sample counts; set samples_per_epoch");
}

void write_curve(State& state, const TrainingLog& log) {
  Json samples = Json::array(), seconds = Json::array(), gap = Json::array(),
       native = Json::array(), loss = Json::array();
  for (const LoggedEvaluation& one : log.evaluations()) {
    samples.push_back(or_null(log.samples_at(one)));
    seconds.push_back(or_null(log.time_at(one)));
    gap.push_back(number_or_null(log.goal().gap(one.value)));
    native.push_back(number_or_null(one.value));
    loss.push_back(or_null(one.loss));
  }
  if (samples.empty()) return;
  state.chunk("curve", {{"samples", samples},
                        {"seconds", seconds},
                        {"gap", gap},
                        {"native", native},
                        {"loss", loss}});
}

/// The clock starts after init, so init has no share of it.
void write_breakdown(State& state, const TrainingLog& log) {
  const auto phases = log.breakdown();
  if (phases.empty()) return;
  Json names = Json::array(), seconds = Json::array(), shares = Json::array(),
       slowest = Json::array();
  for (const LoggedPhase& phase : phases) {
    names.push_back(phase.phase);
    seconds.push_back(phase.time.value);
    shares.push_back(phase.phase == "init" ? Json() : number_or_null(phase.time / *log.run_time()));
    slowest.push_back(nullptr);
  }
  state.chunk(
      "breakdown",
      {{"phase", names}, {"seconds", seconds}, {"share", shares}, {"slowest_rank", slowest}});
}

Json said(const TrainingLog& log, const char* key) {
  const auto found = log.said().find(key);
  return found == log.said().end() ? Json() : found->second;
}

Json commands_json(const FinishedRun& run) {
  Json all = Json::array();
  for (const CommandReport& one : run.commands)
    all.push_back({{"rank", one.rank},
                   {"host", one.host},
                   {"end", one.end.text()},
                   {"left_behind", one.end.left},
                   {"cleanup", one.end.cleanup},
                   {"log", one.log},
                   {"lines_cut", one.lines_cut},
                   {"log_incomplete", one.log_incomplete}});
  return all;
}

Json checks_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const TrainingCheck& one : verdict.checks)
    all.push_back({{"check", one.check}, {"held", one.held}, {"text", one.text}});
  return all;
}

std::string workload(const State& state, const TrainingLog& log) {
  if (const std::string name = state.text("benchmark"); !name.empty()) return name;
  const Json logged = said(log, "submission_benchmark");
  return logged.is_string() ? printable(logged.get<std::string>()) : "external";
}

/// The logged values; a text for a number that JSON does not have.
Json all_said(const TrainingLog& log) {
  MllogLine line;
  line.value = Json::object();
  for (const auto& [key, value] : log.said()) line.value[key] = value;
  return to_json(line).at("value");
}

Json training_facts(const State& state, const TrainingLog& log, const FinishedRun& run,
                    const Verdict& verdict) {
  const Goal& goal = log.goal();
  const auto gap = final_gap(log);
  Json facts = {{"workload", workload(state, log)},
                {"preset", "external"},
                {"item", "sample"},
                {"items_per_sample", 1},
                {"batch", said(log, "global_batch_size")},
                {"evaluation_samples", said(log, "eval_samples")},
                {"ranks", state.job().ranks},
                {"seed", run.seed},
                {"external", true}};
  facts["target"] = goal.target ? Json(0.0) : Json();  // of the gap
  facts["quality"] = or_null(gap);
  facts["native_target"] = or_null(goal.target);
  facts["quality_key"] = goal.key;
  facts["direction"] = goal.lower_is_better ? "lower" : "higher";
  facts["converged"] = verdict.converged;
  facts["run_seconds"] = or_null(log.run_time());
  facts["init_seconds"] = or_null(log.init_time());
  facts["seconds_to_target"] = verdict.converged ? or_null(log.run_time()) : Json();
  facts["samples_to_target"] = verdict.converged ? or_null(log.samples_at(*log.meeting())) : Json();
  facts["checks"] = checks_json(verdict);
  facts["commands"] = commands_json(run);
  facts["logged"] = all_said(log);
  return facts;
}

}  // namespace

void LoggedEvents::add(const MllogLine& line) {
  if (line.key == "tracked_stats" || kept_ >= kMost) {
    ++left_out_;
    return;
  }
  ++kept_;
  state_.event("mllog", to_json(line));
}

void write_records(State& state, const TrainingLog& log, const FinishedRun& run,
                   const Conditions& conditions, const LoggedEvents& events) {
  const Verdict verdict = judge(log, run);
  write_series(state, log, verdict, conditions);
  write_curve(state, log);
  write_breakdown(state, log);
  Json facts = training_facts(state, log, run, verdict);
  facts["mllog_lines"] = log.lines();
  facts["mllog_values_dropped"] = log.dropped();
  facts["mllog_mentions"] = log.mentions();
  facts["mllog_lines_left_out"] = events.left_out();
  state.facts("training", facts);
  if (verdict.status != Status::ok) state.conclude(verdict.status, verdict.reason);
}

}  // namespace bench
