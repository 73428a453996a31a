#include "runner/acceptance/accept_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/log.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/acceptance_json.h"
#include "results/output/verdicts/acceptance_output.h"
#include "runner/acceptance/drain.h"
#include "runner/dispatch/search_jobs.h"
#include "runner/plan/suite.h"

namespace bench {
namespace {

void check_metrics(const std::map<std::string, double>& thresholds,
                   const ProbeCatalogue& catalogue) {
  const std::vector<std::string> names = catalogue.metric_names();
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

/// Whether the reason is a rate or time below what was expected of a metric.
bool has_bound(const Reason& reason, const Json& one) {
  return reason.metric.starts_with(text_field(one, "probe") + ".") && reason.value > 0.0 &&
         reason.expected > 0.0 && reason.value != reason.expected && reason.gate != "hard";
}

/// What lies halfway between the host and what was expected, on a logarithmic scale.
Json bound_of(const Reason& reason) {
  const double half_way = std::sqrt(reason.value * reason.expected);
  return {{"metric", reason.metric.substr(reason.metric.find('.') + 1)},
          {"where", reason.params},
          {reason.value < reason.expected ? "min" : "max", half_way}};
}

/// The suite with the failing case alone, which then demands what the host does not reach. A run of
/// it fails while the fault lasts and passes afterwards.
struct Reproduction {
  Json suite;
  bool judged = false;  // by gates; else only accept can judge it
};

Reproduction reproduction(const Reason* reason, const Json& suite) {
  Reproduction again{suite};
  if (reason == nullptr || reason->case_name.empty()) return again;
  Json cases = Json::array();
  for (Json one : again.suite.at("cases")) {
    if (one.at("name") != reason->case_name) continue;
    if (has_bound(*reason, one)) one["gates"].push_back(bound_of(*reason));
    again.judged = !array_field(one, "gates").empty() && reason->metric != "cpu_time";
    cases.push_back(std::move(one));
  }
  again.suite["cases"] = std::move(cases);
  return again;
}

WrittenFolder write_packet(const fs::path& folder, const Acceptance& acceptance,
                           const HostAcceptance& host, const Inventory& inventory,
                           const Json& suite) {
  const Reason* reason = first_failure(host);
  std::vector<std::string> names = {host.host};
  if (reason != nullptr && reason->gate == "pairs") names.push_back(partner_of(host, acceptance));
  const Reproduction again = reproduction(reason, suite);
  const std::vector<std::string> words =
      again.judged
          ? std::vector<std::string>{"benchctl", "run", "./suite.json", "--hosts", "hosts.json"}
          : std::vector<std::string>{"benchctl",     "accept",  "--suite",
                                     "./suite.json", "--hosts", "hosts.json"};
  const Json packet = rma_packet(acceptance, host, shell_words(words));
  const fs::path into = folder / safe_file_name(host.host);
  write_file(into / "suite.json", again.suite.dump(1) + "\n");
  write_file(into / "hosts.json", to_json(only(inventory, names)).dump(1) + "\n");
  write_file(into / "packet.json",
             packet.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  write_file(into / "packet.txt", to_text(packet));
  return {into, {"suite.json", "hosts.json", "packet.json", "packet.txt"}};
}

}  // namespace

WrittenFolder write_certificates(const fs::path& folder, const Acceptance& acceptance) {
  WrittenFolder written{folder, {"index.html"}};
  write_file(folder / "index.html", to_page(to_document(acceptance)));
  for (const HostAcceptance& host : acceptance.hosts) {
    written.names.push_back(safe_file_name(host.host) + ".html");
    write_file(folder / written.names.back(), to_page(certificate(acceptance, host)));
  }
  return written;
}

void write_junit(const fs::path& file, const Acceptance& acceptance) {
  write_file(file, to_junit(acceptance));
}

std::vector<WrittenFolder> write_rma_packets(const fs::path& folder, const Acceptance& acceptance,
                                             const Inventory& inventory, const std::string& suite) {
  std::vector<WrittenFolder> packets;
  if (std::ranges::find(acceptance.hosts, Verdict::fail, &HostAcceptance::verdict) ==
      acceptance.hosts.end())
    return packets;
  const Json whole = read_json(find_suite(suite));
  for (const HostAcceptance& host : acceptance.hosts)
    if (host.verdict == Verdict::fail)
      packets.push_back(write_packet(folder, acceptance, host, inventory, whole));
  return packets;
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

/// Few peers are measured again together with an open host: their median scatters nearly as much as
/// the host's own, and what slows the site for a while slows them alike.
constexpr std::size_t kFewHosts = 12;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<RunRecords> read_all(const std::vector<std::filesystem::path>& runs) {
  std::vector<RunRecords> records;
  for (const auto& run : runs) records.push_back(read_run(run));
  return records;
}

double count_jobs(const Plan& plan) {
  return static_cast<double>(std::ranges::count_if(
      plan.entries, [](const PlanEntry& entry) { return entry.skip.empty(); }));
}

void log_round(const Plan& plan, int round) {
  std::set<std::string> hosts;
  for (const PlanEntry& entry : plan.entries)
    hosts.insert(entry.job.hosts.begin(), entry.job.hosts.end());
  say(Level::info, fmt::format("inconclusive: round {} reruns {} jobs on {} hosts", round,
                               plan.entries.size(), hosts.size()));
}

}  // namespace

Seconds accept_budget(const Suite& suite) {
  return Seconds{number_field(suite.acceptance, "budget_s", kDefaultAcceptBudgetS)};
}

Plan plan_of_open_cases(const Plan& plan, const Acceptance& acceptance, int most_runs, Again again,
                        const std::set<std::string>& done) {
  std::set<CaseOfHost> wanted;
  std::set<std::string> out, decided, cases;
  for (const HostAcceptance& host : acceptance.hosts) {
    if (dropped_out(host)) out.insert(host.host);
    if (host.verdict == Verdict::fail) decided.insert(host.host);
    for (const std::string& one : open_cases(host))
      if (!done.contains(one)) wanted.insert({one, host.host});
  }
  if (wanted.empty())
    for (const Unresolved& one : acceptance.unresolved)
      if (one.runs <= most_runs && !done.contains(one.case_name))
        for (const std::string& host : one.hosts) wanted.insert({one.case_name, host});
  if (again == Again::with_peers)
    for (const CaseOfHost& one : wanted) cases.insert(one.first);
  Plan more = without_entries(plan);
  for (const PlanEntry& entry : plan.entries) {
    const auto& hosts = entry.job.hosts;
    const auto is_wanted = [&](const std::string& host) {
      return wanted.contains({entry.job.case_name, host}) ||
             (hosts.size() == 1 && cases.contains(entry.job.case_name) && !decided.contains(host));
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
  const Clock::time_point begin = Clock::now();
  say(Level::info,
      fmt::format("time budget {:.0f} s (--budget): what stays open is repeated within "
                  "it, up to {} runs of each case",
                  request.budget.value, request.most_runs));
  const RunDirectory first = execute(request.run, catalogue, site).directory;
  const double first_s = seconds_since(begin);
  // Of the first run, which is known to have taken first_s. Starting ranks takes time for each job,
  // however short it is; a quarter is for what scatters.
  const auto share_of = [&](const Plan& plan) {
    const Plan& all = request.run.plan;
    const double jobs = count_jobs(plan) / std::max(1.0, count_jobs(all));
    const double whole = all.expected.value;
    return 1.25 * std::max(jobs, whole > 0.0 ? plan.expected.value / whole : 1.0);
  };
  accepted.runs.push_back(first.path());
  accepted.acceptance = judge_acceptance(read_all(accepted.runs), request.settings);
  const int each = repeats(request.run.plan);
  const auto spent = [&] { return request.spent.value + seconds_since(begin); };
  const auto fits = [&](const Plan& plan) {
    return spent() + share_of(plan) * first_s <= request.budget.value;
  };
  std::map<std::string, int> taken;  // runs of each case on each host
  for (const PlanEntry& entry : request.run.plan.entries) taken[entry.job.case_name] = each;
  const auto next_plan = [&](Again again) {
    std::set<std::string> done;
    for (const auto& [name, runs] : taken)
      if (runs + each > request.most_runs) done.insert(name);
    return plan_of_open_cases(request.run.plan, accepted.acceptance, request.most_runs, again,
                              done);
  };
  for (int round = 2; !accepted.acceptance.interrupted; ++round) {
    RunRequest more = request.run;
    const bool few = accepted.acceptance.hosts.size() <= kFewHosts;
    more.plan = next_plan(few ? Again::with_peers : Again::open_hosts);
    if (few && !fits(more.plan)) more.plan = next_plan(Again::open_hosts);
    if (more.plan.entries.empty()) break;
    if (!fits(more.plan)) {
      say(Level::info, fmt::format("inconclusive: {} jobs would exceed the time budget of {:.0f} s "
                                   "({:.0f} s spent; --budget)",
                                   more.plan.entries.size(), request.budget.value, spent()));
      break;
    }
    log_round(more.plan, round);
    more.labels["accept"] = first.id();
    set_search(more, {});  // only the first run searches
    std::set<std::string> repeated;
    for (const PlanEntry& entry : more.plan.entries) repeated.insert(entry.job.case_name);
    for (const std::string& name : repeated) taken[name] += each;
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
