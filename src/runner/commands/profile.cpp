// benchctl profile show | trace | import: where the steps of a profiled training spend time and
// memory, and what traces of other profilers say.
#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"
#include "core/whole_file.h"
#include "results/import/kineto_trace.h"
#include "results/import/nsight_report.h"
#include "results/output/verdicts/profile_output.h"
#include "results/output/verdicts/trace_output.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct ProfileOptions : ReadingOptions {
  std::string run = "latest";
  PageOptions pages;
  std::string job, output;
};

std::vector<StepProfile> read_profiles(const ProfileOptions& options) {
  return profiles_of(read_run(find_run(options.runs(), options.run)));
}

void add_run_argument(CLI::App& command, ProfileOptions& options) {
  command
      .add_option("run", options.run,
                  "Read this run: an ID, an ID prefix, or latest (default: latest)")
      ->type_name("RUN");
}

ExitCode show_profiles(const ProfileOptions& options) {
  const std::vector<StepProfile> profiles = read_profiles(options);
  show([&] { return to_document(profiles); }, [&] { return to_json(profiles); }, options.json,
       options.pages);
  return profiles.empty() ? ExitCode::not_measured : ExitCode::ok;
}

void write_trace(const ProfileOptions& options) {
  const std::vector<StepProfile> profiles = read_profiles(options);
  std::vector<std::string> jobs;
  for (const StepProfile& profile : profiles) jobs.push_back(profile.job);
  if (profiles.empty())
    throw Error(ErrorKind::input, "run " + options.run + " has no profile",
                "train with --profile, or set the parameter profile to true");
  const auto chosen = options.job.empty()
                          ? profiles.begin()
                          : std::ranges::find(profiles, options.job, &StepProfile::job);
  if (chosen == profiles.end())
    throw Error(ErrorKind::usage, "no profile of job '" + options.job + "'.",
                "jobs with a profile: " + join(jobs, ", "));
  if (chosen->spans.empty())
    throw Error(ErrorKind::input, "the profile of job " + chosen->job + " has no recorded step",
                "train for more steps");
  const std::string text = dump(trace_of(*chosen)) + "\n";
  if (options.output.empty()) return print(text);
  replace_file(options.output, text);
}

void add_profile_show(CLI::App& profile, CommandResult& result) {
  CLI::App* command = profile.add_subcommand(
      "show", "Show time by operation and module, idle gaps, memory, and what stands out");
  command->footer(
      "Example: benchctl profile show latest --html profile.html\n"
      "Exit codes: 0 the run has a profile; 3 it has none.");
  auto options = std::make_shared<ProfileOptions>();
  add_run_argument(*command, *options);
  add_page_options(*command, options->pages);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = show_profiles(*options); });
}

void add_profile_trace(CLI::App& profile) {
  CLI::App* command = profile.add_subcommand(
      "trace", "Write a typical and the slowest step as a trace for Perfetto or chrome://tracing");
  command->footer("Example: benchctl profile trace latest -o trace.json");
  auto options = std::make_shared<ProfileOptions>();
  add_run_argument(*command, *options);
  add_value(*command, "--job", options->job, "JOB",
            "Take the profile of this job (default: the first)");
  add_value(*command, "-o,--output", options->output, "FILE",
            "Write to this file, replacing it atomically (default: stdout)");
  add_database_option(*command, *options);
  command->callback([options] { write_trace(*options); });
}

struct TraceOptions {
  std::vector<std::string> files;
  PageOptions pages;
  bool json = false;
};

bool is_database(const std::string& file) {
  return file.ends_with(".sqlite") || file.ends_with(".sqlite3") || file.ends_with(".db");
}

ExitCode show_traces(const TraceOptions& options) {
  std::vector<TraceBreakdown> all;
  const auto add = [&](const DeviceTrace& trace) {
    for (TraceBreakdown& one : breakdowns_of(trace)) all.push_back(std::move(one));
  };
  for (const std::string& file : options.files)
    if (is_database(file))
      std::ranges::for_each(read_nsight_report(file), add);
    else
      add(read_kineto_trace(file));
  show([&] { return to_document(all); }, [&] { return to_json(all); }, options.json, options.pages);
  return all.empty() ? ExitCode::not_measured : ExitCode::ok;
}

void add_profile_import(CLI::App& profile, CommandResult& result) {
  CLI::App* command = profile.add_subcommand(
      "import", "Show what a trace of PyTorch's profiler or of Nsight Systems says");
  command->footer(
      "Example: benchctl profile import rank0.json.gz rank1.json.gz\n"
      "Traces of PyTorch's profiler end in .json or .json.gz, reports of Nsight Systems, exported "
      "by `nsys export --type sqlite`, in .sqlite. Nothing is stored.\n"
      "Exit codes: 0 there is work on a device or the host; 3 there is none.");
  auto options = std::make_shared<TraceOptions>();
  add_value(*command, "files", options->files, "FILE",
            "Read these traces: of one rank, or of several ranks of one training")
      ->required();
  add_page_options(*command, options->pages);
  command->add_flag("--json", options->json, "Print JSON (default: text)");
  command->callback([options, &result] { result.code = show_traces(*options); });
}

}  // namespace

void add_profile(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "profile", "Show where the steps of a profiled training spend time and memory");
  command->require_subcommand(1);
  add_profile_show(*command, result);
  add_profile_trace(*command);
  add_profile_import(*command, result);
}

}  // namespace bench
