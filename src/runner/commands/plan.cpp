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

/// Left-aligned, and a space.
void add_column(std::string& line, std::string_view text, std::size_t width) {
  line += text;
  line.append(std::max(width, text.size()) - text.size() + 1, ' ');
}

/// Without fmt: a plan may have a million jobs.
std::string job_line(const PlanEntry& entry) {
  const Job& job = entry.job;
  std::string line;
  add_column(line, job.id, 28);
  add_column(line, job.probe, 18);
  add_column(line, std::to_string(job.ranks) + (job.ranks == 1 ? " rank" : " ranks"), 9);
  std::string where = join(job.hosts, ",");
  for (const auto& [name, value] : job.part.items()) where += " " + name + " " + text_of(value);
  add_column(line, where, 10);
  line += entry.skip.empty() ? format(entry.expected) : "skipped: " + entry.skip;
  line = printable(line);
  line += '\n';
  return line;
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
