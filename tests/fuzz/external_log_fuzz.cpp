// Hostile output of a foreign training, line by line: whatever it logs gives a verdict, of which
// numbers add up, and a convergence that its own lines prove. Also the answer of the script that
// runs PyTorch's loader.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/mllog.h"
#include "probes/data/loader/torch_loader.h"
#include "probes/external/training_log.h"
#include "probes/external/verdict.h"
#include "tests/fuzz/demand.h"

namespace {

using namespace bench;
using fuzz::demand;

external::TrainingLog log_of(std::string_view text) {
  external::TrainingLog log({.target = 0.75, .samples_per_epoch = 1000.0});
  std::int64_t arrived = 1'700'000'000'000'000'000;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const MllogParse parsed = parse_mllog(line);
    arrived += 1'000'000;
    if (parsed.line)
      log.add({*parsed.line, static_cast<int>(line.size() % 2), arrived, Seconds{1.0}});
    else if (!parsed.trouble.empty())
      log.add_trouble(line, parsed.trouble);
  }
  return log;
}

void check(const external::TrainingLog& log) {
  for (const external::LoggedEvaluation& evaluation : log.evaluations()) {
    if (const auto samples = log.samples_at(evaluation))
      demand(*samples >= 0.0, "negative samples");
    log.time_at(evaluation);
  }
  for (const double value : log.throughput().values)
    demand(value > 0.0 && std::isfinite(value), "a throughput that is none");
  for (const external::LoggedPhase& phase : log.breakdown())
    demand(phase.time.value >= 0.0, "a negative time of " + phase.phase);
  const external::Verdict verdict = judge(log, {.commands = {external::CommandReport{}}});
  if (!verdict.converged) return;
  demand(log.meeting() != nullptr && log.status() == "success", "converges without proof");
  demand(log.goal().met_by(log.meeting()->value), "converges above its target");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(log_of(text));
  const auto rate = data::read_torch_answer(std::string(text));
  demand(rate.samples_per_cpu_second.has_value() != !rate.reason.empty(),
         "neither rate nor reason");
  if (rate.samples_per_cpu_second)
    demand(std::isfinite(*rate.samples_per_cpu_second), "a rate that is none");
  return 0;
}
