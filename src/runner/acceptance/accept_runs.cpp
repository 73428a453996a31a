#include "runner/acceptance/accept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "core/error.h"
#include "core/log.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/acceptance_output.h"
#include "runner/acceptance/drain.h"
#include "runner/dispatch/search_jobs.h"

namespace bench {
namespace {

void check_metrics(const std::map<std::string, double>& thresholds,
                   const ProbeCatalogue& catalogue) {
  std::vector<std::string> names;
  for (const ProbeEntry& probe : catalogue.all())
    for (const ProbeMetric& metric : probe.metrics) names.push_back(probe.name + "." + metric.name);
  for (const auto& [name, share] : thresholds)
    if (std::ranges::find(names, name) == names.end())
      throw Error(ErrorKind::usage,
                  "--threshold: unknown metric '" + name + "'." + did_you_mean(name, names),
                  "list metrics with `benchctl list metrics`");
}

}  // namespace

std::map<std::string, double> thresholds_from(const std::vector<std::string>& texts,
                                              const ProbeCatalogue& catalogue) {
  std::map<std::string, double> thresholds;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    char* end = nullptr;
    const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
    const double share = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(share > 0.0) || !(share < 1.0))
      throw Error(ErrorKind::usage,
                  "--threshold " + text + ": expected METRIC=SHARE with 0 < SHARE < 1",
                  "for example --threshold gemm.throughput=0.04");
    thresholds[std::string(current_metric_name(text.substr(0, equals)))] = share;
  }
  check_metrics(thresholds, catalogue);
  return thresholds;
}

namespace fs = std::filesystem;
namespace {

const Reason* first_failure(const HostAcceptance& host) {
  for (const Reason& reason : host.reasons)
    if (reason.verdict == Verdict::fail) return &reason;
  return nullptr;
}

/// A host that passed, else the first other host.
std::string partner_of(const HostAcceptance& host, const Acceptance& acceptance) {
  std::string partner;
  for (const HostAcceptance& other : acceptance.hosts) {
    if (other.host == host.host) continue;
    if (other.verdict == Verdict::pass) return other.host;
    if (partner.empty() && other.verdict != Verdict::fail) partner = other.host;
  }
  return partner;
}

Inventory only(const Inventory& inventory, const std::vector<std::string>& names) {
  Inventory part = inventory;
  part.groups.clear();
  std::erase_if(part.hosts, [&](const Host& host) {
    return std::ranges::find(names, host.name) == names.end();
  });
  return part;
}

void write_packet(const fs::path& folder, const Acceptance& acceptance, const HostAcceptance& host,
                  const Inventory& inventory, const std::string& suite) {
  const Reason* reason = first_failure(host);
  std::vector<std::string> names = {host.host};
  if (reason != nullptr && reason->gate == "pairs") names.push_back(partner_of(host, acceptance));
  const fs::path hosts = fs::absolute(folder / host.host / "hosts.json");
  std::vector<std::string> words = {"benchctl", "run", suite, "--hosts", hosts.string()};
  if (reason != nullptr && !reason->case_name.empty())
    words.insert(words.end(), {"--only", reason->case_name});
  const Json packet = rma_packet(acceptance, host, shell_words(words));
  write_file(hosts, to_json(only(inventory, names)).dump(1) + "\n");
  write_file(folder / host.host / "packet.json",
             packet.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  write_file(folder / host.host / "packet.txt", to_text(packet));
}

}  // namespace

void write_certificates(const fs::path& folder, const Acceptance& acceptance) {
  write_file(folder / "index.html", to_page(to_document(acceptance)));
  for (const HostAcceptance& host : acceptance.hosts)
    write_file(folder / (host.host + ".html"), to_page(certificate(acceptance, host)));
}

void write_junit(const fs::path& file, const Acceptance& acceptance) {
  write_file(file, to_junit(acceptance));
}

void write_rma_packets(const fs::path& folder, const Acceptance& acceptance,
                       const Inventory& inventory, const std::string& suite) {
  for (const HostAcceptance& host : acceptance.hosts)
    if (host.verdict == Verdict::fail) write_packet(folder, acceptance, host, inventory, suite);
}

namespace {

using CaseOfHost = std::pair<std::string, std::string>;

bool dropped_out(const HostAcceptance& host) {
  return std::ranges::any_of(host.reasons,
                             [](const Reason& reason) { return reason.gate == "launch"; });
}

/// Repeats of the least repeated case in one round.
int repeats(const Plan& plan) {
  int least = 1;
  for (const Case& one : plan.suite.cases) least = std::max(least, one.repeat);
  for (const Case& one : plan.suite.cases) least = std::min(least, one.repeat);
  return std::max(1, least);
}

std::vector<RunRecords> read_all(const std::vector<std::filesystem::path>& runs) {
  std::vector<RunRecords> records;
  for (const auto& run : runs) records.push_back(read_run(run));
  return records;
}

void log_round(const Plan& plan, int round) {
  std::set<std::string> hosts;
  for (const PlanEntry& entry : plan.entries)
    hosts.insert(entry.job.hosts.begin(), entry.job.hosts.end());
  say(Level::info, fmt::format("inconclusive: round {} reruns {} jobs on {} hosts", round,
                               plan.entries.size(), hosts.size()));
}

}  // namespace

Plan plan_of_open_cases(const Plan& plan, const Acceptance& acceptance) {
  std::set<CaseOfHost> wanted;
  std::set<std::string> out;
  for (const HostAcceptance& host : acceptance.hosts) {
    if (dropped_out(host)) out.insert(host.host);
    for (const std::string& one : open_cases(host)) wanted.insert({one, host.host});
  }
  Plan more = without_entries(plan);
  for (const PlanEntry& entry : plan.entries) {
    const auto& hosts = entry.job.hosts;
    const auto is_wanted = [&](const std::string& host) {
      return wanted.contains({entry.job.case_name, host});
    };
    if (!entry.skip.empty() || std::ranges::none_of(hosts, is_wanted) ||
        std::ranges::any_of(hosts, [&](const auto& host) { return out.contains(host); }))
      continue;
    more.entries.push_back(entry);
    more.expected += entry.expected;
  }
  return more;
}

AcceptedRuns accept_hosts(const AcceptRequest& request, const ProbeCatalogue& catalogue,
                          const LaunchSite& site) {
  AcceptedRuns accepted;
  const RunDirectory first = execute(request.run, catalogue, site).directory;
  accepted.runs.push_back(first.path());
  accepted.acceptance = judge_acceptance(read_all(accepted.runs), request.settings);
  const int each = repeats(request.run.plan);
  for (int taken = 2 * each; taken <= request.most_runs; taken += each) {
    RunRequest more = request.run;
    more.plan = plan_of_open_cases(request.run.plan, accepted.acceptance);
    if (more.plan.entries.empty() || accepted.acceptance.interrupted) break;
    log_round(more.plan, taken / each);
    more.labels["accept"] = first.id();
    set_search(more, {});  // only the first run searches
    accepted.runs.push_back(execute(more, catalogue, site).directory.path());
    accepted.acceptance = judge_acceptance(read_all(accepted.runs), request.settings);
  }
  return accepted;
}

Acceptance judge_stored(const std::vector<std::filesystem::path>& runs,
                        AcceptanceSettings settings) {
  auto records = read_all(runs);
  std::set<std::string> known(settings.hosts.begin(), settings.hosts.end());
  const bool all = known.empty();
  for (const RunRecords& run : records)
    for (const PlannedJob& job : run.jobs)
      for (const std::string& host : job.hosts)
        if (all && known.insert(host).second) settings.hosts.push_back(host);
  return judge_acceptance(std::move(records), settings);
}

}  // namespace bench
