// What the probe `external` makes of logs that lie there already, without a clock to compare them
// with. For each line of stdin, {"path", "target", "direction"}, a line of stdout.
// tests/probes/external_peer_test.py compares them with MLPerf's own reading.
#include <iostream>
#include <string>

#include "core/fields.h"
#include "probes/external/follow.h"
#include "probes/external/training_log.h"

using namespace bench;
using namespace bench::external;

namespace {

TrainingLog read_log(const Json& question) {
  TrainingLog log({"eval_accuracy",
                   question.at("target").get<double>(),
                   question.at("direction") == "lower",
                   {}});
  LineSplitter splitter(1u << 20);
  const auto take = [&](std::string_view text, std::size_t) {
    const MllogParse parsed = parse_mllog(text);
    if (parsed.line) log.add({*parsed.line, 0, 0, {}});
    if (!parsed.trouble.empty()) log.add_trouble(text, parsed.trouble);
  };
  splitter.add(read_file(question.at("path").get<std::string>()), take);
  splitter.finish(take);
  return log;
}

Json answer(const TrainingLog& log) {
  Json result = {{"troubles", log.troubles()}, {"status", log.status()}};
  result["run_s"] = log.run_time() ? Json(log.run_time()->value) : Json();
  result["met"] = log.meeting() != nullptr;
  result["evaluations"] = log.evaluations().size();
  double all = 0.0;
  for (const LoggedPhase& phase : log.breakdown())
    if (phase.phase != "init") all += phase.time.value;
  result["phases_s"] = all;
  if (log.evaluations().empty()) return result;
  const LoggedEvaluation& last = log.evaluations().back();
  result["quality"] = number_or_null(last.value);
  result["samples"] = last.samples ? Json(*last.samples) : Json();
  return result;
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << dump(answer(read_log(parse_json(line, "stdin")))) << '\n';
  return std::cout.flush() ? 0 : 1;
}
