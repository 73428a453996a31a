// benchctl plan SUITE: prints the jobs of a suite, their hosts and expected times. Starts nothing.
#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"
#include "core/text.h"
#include "runner/commands/command.h"
#include "runner/commands/plan_options.h"
#include "runner/plan/plan_json.h"

namespace bench {
namespace {

std::string job_line(const PlanEntry& entry) {
  const Job& job = entry.job;
  const std::string ranks = job.ranks == 1 ? "1 rank" : fmt::format("{} ranks", job.ranks);
  const std::string end = entry.skip.empty() ? format(entry.expected) : "skipped: " + entry.skip;
  std::string where = join(job.hosts, ",");
  for (const auto& [name, value] : job.part.items())
    where += fmt::format(" {} {}", name, text_of(value));
  return printable(
             fmt::format("{:<28} {:<18} {:<9} {:<10} {}", job.id, job.probe, ranks, where, end)) +
         "\n";
}

/// The parameters of jobs of one case differ by axes and rail.
bool same_params(const PlanEntry& a, const PlanEntry& b) {
  return a.job.case_name == b.job.case_name && a.axes == b.axes && a.job.part == b.job.part;
}

/// Prints parameters once for consecutive jobs that share them: all 130,816 pairs of 512 hosts have
/// the same.
void write_jobs(const Plan& plan, const Write& write) {
  const PlanEntry* last = nullptr;
  for (const PlanEntry& entry : plan.entries) {
    write(job_line(entry));
    if (last == nullptr || !same_params(*last, entry))
      write("    " + printable(dump(entry.job.params)) + "\n");
    last = &entry;
  }
}

void write_summary(const Plan& plan, const Write& write) {
  write(fmt::format("suite {}: {}\n\n", printable(plan.suite.name),
                    printable(plan.suite.description)));
  write_jobs(plan, write);
  const auto skipped = std::ranges::count_if(
      plan.entries, [](const PlanEntry& entry) { return !entry.skip.empty(); });
  write(fmt::format("\n{} jobs, {} of them skipped; about {}\n", plan.entries.size(), skipped,
                    format(plan.expected)));
}

}  // namespace

void add_plan(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand(
      "plan", "Show the jobs that would run, on which hosts, and the expected time");
  command->footer("Example: benchctl plan smoke --set gemm.threads=1");
  struct Options : PlanOptions, ReadingOptions {};
  auto options = std::make_shared<Options>();
  add_plan_options(*command, *options);
  add_reading_options(*command, *options);
  command->callback([options] {
    const PlannedRun planned = plan_from(*options, options->database());
    print_pieces([&](const Write& write) {
      options->json ? write_plan(planned.plan, Json::object(), write)
                    : write_summary(planned.plan, write);
    });
  });
}

}  // namespace bench
