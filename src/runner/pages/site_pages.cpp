#include "runner/pages/site_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "core/time.h"
#include "core/whole_file.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/acceptance_output.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/fleet_output.h"
#include "results/output/verdicts/host_output.h"
#include "results/output/verdicts/night_output.h"
#include "results/output/verdicts/regression_output.h"
#include "results/run/dimensions.h"
#include "results/store/history.h"
#include "results/store/journal.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/selector.h"
#include "results/verdicts/fleet/fleet_report.h"
#include "results/verdicts/regression/decisions.h"
#include "results/verdicts/regression/regression.h"
#include "runner/acceptance/accept_runs.h"
#include "runner/acceptance/profiles.h"
#include "runner/nightly/night_past.h"

namespace bench {

namespace fs = std::filesystem;

namespace {

std::string day_of(std::int64_t time_ns) { return format_time(time_ns).substr(0, 10); }

/// A page of the site that the index links to.
struct Entry {
  std::string address;
  std::string title;
  std::int64_t time_ns = 0;
  DocumentCell verdict = {};
  std::string what = {};
};

/// Runs of one acceptance: the first, and the rounds that repeat parts of it.
struct AcceptanceRuns {
  const RunRow* first = nullptr;
  std::vector<fs::path> folders;
};

class SiteWriter {
 public:
  explicit SiteWriter(const SiteRequest& request)
      : request_(request),
        store_(Store::open(request.database, Access::read)),
        histories_(store_),
        past_(read_past(request.database)),
        faults_(read_faults("")),
        runs_folder_(request.database.parent_path() / "runs"),
        runs_(store_.runs()) {
    if (runs_.size() > request.most_runs) runs_.resize(request.most_runs);
  }

  SitePages write() {
    find_acceptances();
    find_suites();
    for (const RunRow& run : runs_)
      for (const std::string& host : run.hosts) hosts_[host].push_back(&run);
    all_ = runs_.size() + find_nights().size() + hosts_.size() + acceptances_.size() +
           suites_.size() + 2;
    add_fleet();
    add_regressions();
    for (const RunRow& run : runs_) add_run(run);
    for (const auto& [time, runs] : find_nights()) add_night(runs);
    std::ranges::stable_sort(nights_, std::greater<>(), &Entry::time_ns);
    for (const auto& [id, runs] : acceptances_) add_acceptance(id, runs);
    for (const auto& [suite, runs] : suites_) add_comparison(suite, runs);
    for (const auto& [host, runs] : hosts_) add_host(host, runs);
    write_page("index.html", index());
    return std::move(pages_);
  }

 private:
  /// A page that cannot be made does not stop the others.
  template <class Make>
  void attempt(const std::string& what, const Make& make) {
    try {
      make();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::environment) throw;
      pages_.warnings.push_back(what + ": " + error.what());
    }
    if (request_.progress) request_.progress(++done_, all_);
  }

  void write_page(const std::string& address, Document document) {
    if (address != "index.html" && document.parents.empty())
      document.parents = {
          {"All results", address.find('/') == std::string::npos ? "index.html" : "../index.html"}};
    write_file(request_.folder / address, to_page(document));
    pages_.files.push_back(address);
  }

  fs::path folder_of(const RunRow& run) const { return runs_folder_ / run.id; }

  void find_acceptances() {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {  // oldest first
      if (run->discarded) continue;
      const std::string first = text_field(run->labels, "accept");
      if (!first.empty()) {
        if (const auto known = acceptances_.find(first); known != acceptances_.end())
          known->second.folders.push_back(folder_of(*run));
        continue;
      }
      try {
        if (!read_planned(folder_of(*run)).plan.contains("acceptance")) continue;
      } catch (const Error&) {
        continue;  // add_run() says why
      }
      acceptances_[run->id] = {&*run, {folder_of(*run)}};
    }
  }

  /// By the label that all runs of a night have.
  std::map<std::string, std::vector<const RunRow*>> find_nights() const {
    std::map<std::string, std::vector<const RunRow*>> nights;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run)  // oldest first
      if (run->labels.contains(kNightLabel) && !run->discarded)
        nights[text_field(run->labels, kNightLabel)].push_back(&*run);
    return nights;
  }

  /// Newest first; only those with two runs on the same hosts can be compared.
  void find_suites() {
    std::map<std::string, std::vector<const RunRow*>> all;
    for (const RunRow& run : runs_)
      if (run.finished && !run.discarded && !run.labels.contains("accept"))
        all[run.suite].push_back(&run);
    for (auto& [suite, runs] : all) {
      const auto other = std::ranges::find_if(runs.begin() + 1, runs.end(), [&](const RunRow* run) {
        return run->hosts == runs.front()->hosts;
      });
      if (other != runs.end()) suites_[suite] = {*other, runs.front()};
    }
  }

  void add_fleet() {
    attempt("fleet", [&] {
      FleetSettings settings;
      settings.now_ns = now_ns();
      fleet_ = stored_fleet(store_, histories_, settings);
      write_page("fleet.html", to_document(fleet_));
    });
  }

  void add_regressions() {
    attempt("regressions", [&] {
      RegressionOptions ask;
      ask.decisions = decisions_of(read_journal(journal_path(request_.database)));
      const RegressionReport report = regression_report(histories_, ask);
      Document document = to_document(report, true);
      if (const Headline* headline = headline_of(document))
        regressions_ = {.text = headline->verdict, .tone = headline->tone};
      write_page("regressions.html", std::move(document));
    });
  }

  void add_run(const RunRow& row) {
    attempt("run " + row.id, [&] {
      const RunRecords records = read_run(folder_of(row));
      const RunReport report = make_run_report(records);
      const std::string address = "runs/" + safe_file_name(row.id) + ".html";
      Document document = to_document(report);
      const Headline* headline = headline_of(document);
      run_pages_[row.id] = {address,
                            row.id,
                            row.time_ns,
                            {.text = headline == nullptr ? row.outcome : headline->verdict,
                             .tone = tone_of(report.exit_code)},
                            headline == nullptr ? "" : headline->text};
      write_page(address, std::move(document));
    });
  }

  /// Findings as the night stored them; trends from what the database knew before. Under Slurm a
  /// night is a run for each node.
  void add_night(const std::vector<const RunRow*>& runs) {
    const RunRow& first = *runs.front();
    attempt("night " + first.id, [&] {
      Night night;
      night.run = first.id;
      night.suite = first.suite;
      night.time_ns = first.time_ns;
      std::map<std::string, NightHost> hosts;
      const PastIndex index(past_, faults_, first.time_ns);
      const NightHistory history(request_.database, index, first.time_ns);
      for (const RunRow* run : runs) {
        night.runs.push_back(run->id);
        night.seconds = std::fmax(night.seconds, run->seconds);
        const RunSummary report = make_run_summary(read_run(folder_of(*run)));
        night.interrupted |= report.interrupted || !report.finished;
        Suspicions suspicions = find_suspects(
            report, [&](const SeriesIdentity& series) { return history.of(series); }, {});
        night.tested += suspicions.tested;
        night.no_history += suspicions.no_history;
        night.not_clean += suspicions.not_clean;
        std::ranges::move(suspicions.trends, std::back_inserter(night.trends));
        count_jobs(report.jobs, hosts);
      }
      for (const PastFinding& one : past_.findings)
        if (std::ranges::find(night.runs, one.finding.run) != night.runs.end())
          night.findings.push_back(one.finding);
      for (auto& [name, host] : hosts) {
        host.age_s = host.ok > host.disturbed ? 0.0 : index.age_s(name);
        night.hosts.push_back(std::move(host));
      }
      const std::string address = "nights/" + safe_file_name(first.id) + ".html";
      Document document = to_document(night);
      const Headline* headline = headline_of(document);
      nights_.push_back({address,
                         first.id,
                         first.time_ns,
                         {.text = headline->verdict, .tone = headline->tone},
                         fmt::format("{} finding{}, {} series judged", night.findings.size(),
                                     night.findings.size() == 1 ? "" : "s", night.tested)});
      write_page(address, std::move(document));
    });
  }

  void add_acceptance(const std::string& id, const AcceptanceRuns& runs) {
    attempt("acceptance " + id, [&] {
      AcceptanceSettings settings;
      const Json plan = read_planned(runs.folders.front()).plan;
      if (plan.contains("inventory")) {
        const Inventory inventory = inventory_from_json(plan.at("inventory"), "plan.json");
        for (const Host& host : inventory.hosts) settings.hosts.push_back(host.name);
        settings.profiles = profiles_of(inventory, "", request_.database);
      }
      const Acceptance acceptance = judge_stored(runs.folders, settings);
      const std::string name = "acceptances/" + safe_file_name(id);
      Document summary = to_document(acceptance);
      summary.parents = {{"All results", "../../index.html"}};
      summary.add(
          Note{"Judged again from the stored runs, with the thresholds of the suite: "
               "thresholds and reference results given to `accept` are not known here."});
      write_page(name + "/index.html", std::move(summary));
      for (const HostAcceptance& host : acceptance.hosts)
        write_page(name + "/" + safe_file_name(host.host) + ".html", certificate(acceptance, host));
      accepted_.push_back({name + "/index.html", id, runs.first->time_ns,
                           verdict_cell(acceptance.verdict),
                           fmt::format("{} hosts, {}", acceptance.hosts.size(), acceptance.suite)});
    });
  }

  void add_comparison(const std::string& suite, const std::pair<const RunRow*, const RunRow*>& ab) {
    attempt("comparison of " + suite, [&] {
      std::vector<std::string> ids;
      for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) ids.push_back(run->id);
      const auto side = [&](const RunRow& run) {
        return read_side(histories_, parse_selector("run:" + run.id, ids), {});
      };
      const Comparison comparison = compare(side(*ab.first), side(*ab.second));
      const std::string address = "comparisons/" + safe_file_name(suite) + ".html";
      Document document = to_document(comparison, true);
      document.title = suite + ": the newest run and the one before it on the same hosts";
      const Headline* headline = headline_of(document);
      compared_.push_back({address,
                           suite,
                           ab.second->time_ns,
                           {.text = headline->verdict, .tone = headline->tone},
                           ab.first->id + " and " + ab.second->id});
      write_page(address, std::move(document));
    });
  }

  void add_host(const std::string& host, const std::vector<const RunRow*>& runs) {
    attempt("host " + host, [&] {
      HostPage page{.host = host};
      for (const FleetHostReport& one : fleet_.hosts)
        if (one.host == host) page.fleet = &one;
      for (const RunRow* run : runs)
        if (const auto known = run_pages_.find(run->id); known != run_pages_.end())
          page.runs.push_back({run->id, "../" + known->second.address, run->time_ns, run->suite,
                               known->second.verdict});
      Selection selection;
      selection.hosts = {host};
      selection.most_points = kHistoryPoints;
      histories_.each(selection,
                      [&](const SeriesHistory& series) { page.histories.push_back(series); });
      write_page("hosts/" + safe_file_name(host) + ".html", to_document(page));
    });
  }

  static DocumentTable table_of(const std::vector<Entry>& entries, const char* what) {
    DocumentTable table{{{what, false}, {"verdict", false}, {"date", false}, {"about", false}}};
    for (const Entry& one : entries)
      table.rows.push_back({{.text = one.title, .link = one.address},
                            one.verdict,
                            {day_of(one.time_ns)},
                            {one.what}});
    return table;
  }

  DocumentTable hosts_table() const {
    DocumentTable table{
        {{"host", false}, {"verdict", false}, {"last run", false}, {"runs"}, {"reason", false}}};
    for (const auto& [host, runs] : hosts_) {
      const auto fleet = std::ranges::find(fleet_.hosts, host, &FleetHostReport::host);
      const bool known = fleet != fleet_.hosts.end();
      table.rows.push_back({{.text = host, .link = "hosts/" + safe_file_name(host) + ".html"},
                            known ? verdict_cell(fleet->verdict) : DocumentCell{"not judged"},
                            {day_of(runs.front()->time_ns)},
                            count_cell(runs.size()),
                            {known && !fleet->reasons.empty() ? fleet->reasons.front() : ""}});
    }
    return table;
  }

  Document index() {
    Document document{.title = "Results"};
    Document fleet = to_document(fleet_);
    if (const Headline* headline = headline_of(fleet)) document.add(*headline);
    const auto card = [](const char* label, std::size_t count, const std::string& detail = "") {
      return SummaryCard{label, std::to_string(count), detail};
    };
    document.add(Cards{{card("Hosts", hosts_.size()), card("Runs", runs_.size(), "newest"),
                        card("Nights", nights_.size()), card("Acceptances", accepted_.size())}});
    std::ranges::stable_sort(accepted_, std::greater<>(), &Entry::time_ns);
    DocumentTable reports{{{"report", false}, {"verdict", false}, {"about", false}}};
    const auto made = [&](const char* file) {
      return std::ranges::find(pages_.files, file) != pages_.files.end();
    };
    reports.rows = {
        {{.text = "Fleet", .link = made("fleet.html") ? "fleet.html" : ""},
         made("fleet.html") ? verdict_cell(fleet_.verdict) : DocumentCell{"not made"},
         {"each host against its peers, over the runs of the last 90 days"}},
        {{.text = "Regressions", .link = made("regressions.html") ? "regressions.html" : ""},
         made("regressions.html") ? regressions_ : DocumentCell{"not made"},
         {"every series against its own history"}}};
    document.add(Heading{"Reports"}).add(std::move(reports));
    document.add(Heading{"Hosts"}).add(hosts_table());
    document.add(Heading{"Nights"}).add(table_of(nights_, "night"));
    document.add(Heading{"Acceptances"}).add(table_of(accepted_, "acceptance"));
    document.add(Heading{"Comparisons"}).add(table_of(compared_, "suite"));
    std::vector<Entry> runs;
    for (const RunRow& run : runs_)
      if (const auto known = run_pages_.find(run.id); known != run_pages_.end()) {
        runs.push_back(known->second);
        runs.back().what = run.suite + ", " + runs.back().what;
      }
    document.add(Heading{"Runs"}).add(table_of(runs, "run"));
    for (const std::string& warning : pages_.warnings) document.add(Note{warning, "warning"});
    return document;
  }

  static constexpr std::size_t kHistoryPoints = 60;

  const SiteRequest& request_;
  Store store_;
  Histories histories_;
  NightPast past_;
  FaultCatalogue faults_;
  fs::path runs_folder_;
  std::vector<RunRow> runs_;  // newest first
  std::map<std::string, std::vector<const RunRow*>> hosts_;
  std::map<std::string, AcceptanceRuns> acceptances_;                      // by first run
  std::map<std::string, std::pair<const RunRow*, const RunRow*>> suites_;  // older, newer
  std::map<std::string, Entry> run_pages_;
  std::vector<Entry> nights_, accepted_, compared_;
  FleetReport fleet_;
  DocumentCell regressions_ = {};
  std::size_t done_ = 0, all_ = 0;
  SitePages pages_;
};

}  // namespace

SitePages write_site(const SiteRequest& request) { return SiteWriter(request).write(); }

}  // namespace bench
