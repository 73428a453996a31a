// benchctl accept: acceptance tests. Runs a suite on the hosts, repeats inconclusive cases, and
// reports pass, fail or inconclusive with the reasons for each host.
#include <chrono>
#include <optional>

#include "core/locations.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/document/markdown.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/acceptance_output.h"
#include "runner/acceptance/accept_runs.h"
#include "runner/acceptance/drain.h"
#include "runner/acceptance/profiles.h"
#include "runner/commands/command.h"
#include "runner/commands/dispatch_options.h"
#include "runner/commands/plan_options.h"
#include "runner/commands/report_output.h"
#include "runner/dispatch/search_jobs.h"
#include "runner/doctor/other_work.h"
#include "runner/seal/seal.h"
#include "runner/site/find_run.h"
#include "runner/site/site_settings.h"

namespace bench {
namespace {

struct AcceptOptions : PlanOptions, ReadingOptions, LocaliseOptions {
  AcceptOptions() { localise = true; }
  std::string level = "quick";
  std::vector<std::string> of;
  std::vector<std::string> thresholds;
  int most_runs = 9;
  std::optional<double> budget_s;  // default: of the suite
  std::string profile, golden, html, markdown, junit, rma, sign;
  double wait_idle_s = 0.0;
  bool anyway = false;
  bool drain = false, yes = false;
  bool verbose = false;
};

struct Answer {
  Acceptance acceptance;
  Inventory inventory;
  std::vector<std::filesystem::path> runs = {};
  bool indexed = true;
};

std::optional<FleetProfile> golden_of(const AcceptOptions& options) {
  if (options.golden.empty()) return {};
  return read_fleet_profile(options.golden);
}

Answer run_suite(AcceptOptions& options) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  AcceptRequest request;
  if (options.suite.empty()) options.suite = "accept-" + options.level;
  request.settings.golden = golden_of(options);
  PlannedRun planned = plan_from(options, options.database());
  request.settings.thresholds = thresholds_from(options.thresholds, planned.catalogue);
  request.run = run_request(options, std::move(planned.plan), options.database());
  request.most_runs = options.most_runs;
  request.budget =
      options.budget_s ? Seconds{*options.budget_s} : accept_budget(request.run.plan.suite);
  set_search(request.run, budget_of(options, request.run.plan));
  if (!options.anyway && planned.site.kind != LauncherKind::slurm)
    report_other_work(request.run.plan.inventory, Seconds{options.wait_idle_s});
  for (const Host& host : request.run.plan.inventory.hosts)
    request.settings.hosts.push_back(host.name);
  request.settings.profiles =
      profiles_of(request.run.plan.inventory, options.profile, options.database());
  if (options.wait_idle_s <= 0.0)
    request.spent.value = std::chrono::duration<double>(Clock::now() - begin).count();
  AcceptedRuns accepted = accept_hosts(request, planned.catalogue, planned.site);
  Answer answer{std::move(accepted.acceptance), request.run.plan.inventory, accepted.runs};
  for (const auto& run : accepted.runs)
    answer.indexed &= index_run(run, options.database(), answer.acceptance.interrupted).has_value();
  return answer;
}

/// Judges stored runs again; the hosts are those of the first run's plan.
Answer judge_runs(AcceptOptions& options) {
  Answer answer;
  AcceptanceSettings settings;
  settings.thresholds =
      thresholds_from(options.thresholds, ProbeCatalogue::load(data_root() / "schemas" / "probes"));
  for (const std::string& run : options.of) answer.runs.push_back(find_run(options.runs(), run));
  const Json plan = read_planned(answer.runs.front()).plan;
  options.suite = text_field(plan, "suite");
  const std::string file = text_field(plan, "suite_path");
  if (std::filesystem::exists(file)) options.suite = std::filesystem::absolute(file).string();
  if (plan.contains("inventory"))
    answer.inventory = inventory_from_json(plan.at("inventory"), "plan.json");
  for (const Host& host : answer.inventory.hosts) settings.hosts.push_back(host.name);
  settings.profiles = profiles_of(answer.inventory, options.profile, options.database());
  settings.golden = golden_of(options);
  answer.acceptance = judge_stored(answer.runs, settings);
  return answer;
}

Json drain_json(const std::vector<Drain>& list) {
  Json json = Json::array();
  for (const Drain& drain : list)
    json.push_back({{"host", drain.host},
                    {"command", drain.command},
                    {"ran", drain.ran},
                    {"trouble", text_or_null(drain.trouble)}});
  return json;
}

std::string drain_text(const std::vector<Drain>& list, bool ran) {
  if (list.empty()) return "";
  std::string text = ran ? "\ndrained:\n" : "\ndrain commands (add --yes to run them):\n";
  for (const Drain& drain : list)
    text += "  " + shell_words(drain.command) +
            (drain.trouble.empty() ? "" : "\n    failed: " + drain.trouble) + "\n";
  return text;
}

/// Digests of what the verdicts rest on, to be checked in runs/: sha256sum -c evidence.sha256.
std::string evidence_sums(const std::vector<std::filesystem::path>& runs) {
  std::string sums;
  for (const std::filesystem::path& run : runs)
    sums += sum_line(run / "records.jsonl", run.filename().string() + "/records.jsonl");
  return sums;
}

void hand_on(WrittenFolder written, const std::string& evidence, const AcceptOptions& options) {
  written.names.push_back("evidence.sha256");
  write_file(written.folder / written.names.back(), evidence);
  seal(written, options.sign);
}

void write_files(const AcceptOptions& options, const Answer& answer) {
  const bool handed_on = !options.html.empty() || !options.rma.empty();
  const std::string evidence = handed_on ? evidence_sums(answer.runs) : "";
  if (!options.html.empty())
    hand_on(write_certificates(options.html, answer.acceptance), evidence, options);
  if (!options.markdown.empty())
    write_file(options.markdown, to_markdown(to_document(answer.acceptance)));
  if (!options.junit.empty()) write_junit(options.junit, answer.acceptance);
  if (options.rma.empty()) return;
  for (const WrittenFolder& packet :
       write_rma_packets(options.rma, answer.acceptance, answer.inventory, options.suite))
    hand_on(packet, evidence, options);
}

ExitCode code_of(const Answer& answer, const std::vector<Drain>& drained) {
  if (answer.acceptance.interrupted) return ExitCode::interrupted;
  if (answer.acceptance.verdict == Verdict::fail) return ExitCode::failed;
  if (answer.acceptance.verdict == Verdict::inconclusive) return ExitCode::not_measured;
  const bool trouble =
      std::ranges::any_of(drained, [](const Drain& drain) { return !drain.trouble.empty(); });
  return answer.indexed && !trouble ? ExitCode::ok : ExitCode::environment;
}

ExitCode accept(AcceptOptions& options) {
  if (options.yes && !options.drain)
    throw Error(ErrorKind::usage, "--yes requires --drain", "add --drain, or remove --yes");
  if (!options.sign.empty() && options.html.empty() && options.rma.empty())
    throw Error(ErrorKind::usage, "--sign requires --html or --rma", "add one of them");
  const Answer answer = options.of.empty() ? run_suite(options) : judge_runs(options);
  std::vector<Drain> drained;
  if (options.drain) drained = drains(answer.acceptance);
  if (options.yes) run_drains(drained);
  if (options.json) {
    const Json besides = {{"drain", drain_json(drained)}};
    print_pieces([&](const Write& write) { write_json(answer.acceptance, besides, write); });
  } else {
    print(to_terminal(to_document(answer.acceptance), style_of_stdout(options.verbose)) +
          drain_text(drained, options.yes));
  }
  write_files(options, answer);
  return code_of(answer, drained);
}

void add_accept_options(CLI::App& command, AcceptOptions& options) {
  command
      .add_option("--hosts", options.hosts,
                  "Test the hosts in this hosts file (default: this host)")
      ->type_name("FILE");
  command
      .add_option("--level", options.level,
                  "Choose the test level: quick (seconds), standard (minutes) or burn (an hour) "
                  "(default: quick)")
      ->check(CLI::IsMember({"quick", "standard", "burn"}));
  command
      .add_option("--profile", options.profile,
                  "Check all hosts against this profile, a name in hosts/profiles or a file "
                  "(default: the profile of each host in the hosts file)")
      ->type_name("PROFILE");
  command
      .add_option("--golden", options.golden,
                  "Compare with reference results from `benchctl report fleet --learn`: finds "
                  "batches that are slow as a whole, and judges hosts without peers")
      ->type_name("FILE");
  command.add_option("--suite", options.suite, "Run another suite: a name, ./FILE or FILE.json")
      ->type_name("SUITE");
  add_repeated(command, "--only", options.changes.only, "Run only this case; may be repeated")
      ->type_name("CASE");
  add_repeated(command, "--threshold", options.thresholds,
               "Set the loss relative to peers that fails a host, e.g. gemm.throughput=0.04; may "
               "be repeated")
      ->type_name("METRIC=SHARE");
  command
      .add_option("--max-runs", options.most_runs,
                  "Repeat an inconclusive case on a host at most this often (default: 9)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command
      .add_option("--budget", options.budget_s,
                  "Repeat inconclusive cases only while this is enough for the whole test, in "
                  "seconds; 0 repeats nothing (default: that of the suite)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e7));
  add_value(command, "--wait-idle", options.wait_idle_s, "S",
            "Wait up to this many seconds until no other process uses a tenth of a CPU "
            "(default: only warn; not with Slurm)")
      ->check(CLI::Range(0.0, 1e6));
  command.add_flag("--anyway", options.anyway, "Do not look for other work (saves two seconds)");
  add_repeated(command, "--of", options.of,
               "Judge this stored run instead of running; may be repeated")
      ->type_name("RUN");
  command
      .add_option("--html", options.html,
                  "Write certificates to this folder: index.html, HOST.html")
      ->type_name("DIR");
  add_value(command, "--markdown", options.markdown, "FILE",
            "Write the summary of all hosts as Markdown");
  command.add_option("--junit", options.junit, "Write a JUnit XML report to this file")
      ->type_name("FILE");
  command
      .add_option("--rma", options.rma, "Write an RMA packet for each failed host to this folder")
      ->type_name("DIR");
  add_value(command, "--sign", options.sign, "FILE",
            "Sign certificates and packets with this SSH key, private, or public with ssh-agent "
            "(`benchctl verify` checks them)");
  command.add_flag("--drain", options.drain,
                   "Print the Slurm command that drains each failed host");
  command.add_flag("--yes", options.yes, "Run the commands that --drain prints");
}

}  // namespace

void add_accept(CLI::App& app, CommandResult& result) {
  CLI::App* command =
      app.add_subcommand("accept", "Run acceptance tests on hosts: pass, fail or inconclusive");
  command->footer(
      "Example: benchctl accept --hosts hosts.json --level standard --html certificates\n"
      "Exit codes: 0 all hosts passed; 1 a host or link failed; 3 a host is inconclusive.");
  auto options = std::make_shared<AcceptOptions>();
  add_accept_options(*command, *options);
  add_dispatch_options(*command, *options);
  add_localise_options(*command, *options);
  add_verbose(*command, options->verbose);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = accept(*options); });
}

}  // namespace bench
