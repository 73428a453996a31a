#include "results/import/imported_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <unordered_set>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/private_folder.h"
#include "core/text.h"
#include "core/time.h"
#include "core/version.h"
#include "core/whole_file.h"
#include "results/import/collected_series.h"
#include "results/run/run_records.h"

namespace bench {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRuns = 10'000;
constexpr std::size_t kMostJobs = 1'000'000;
constexpr std::size_t kWaitingBytes = 64 * 1024;

constexpr std::uint64_t kHashOfNothing = 0xcbf29ce484222325;

/// FNV-1a, to distinguish imports; not a protection against forgery.
std::uint64_t content_hash_on(std::uint64_t hash, std::string_view text) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

struct ImportedRuns::OpenJob {
  std::string id;
  ImportedJob job;
  Status status = Status::ok;
  std::string reason = {};
};

struct ImportedRuns::OpenRun {
  fs::path folder;
  std::string waiting = {};  // records that are not written yet
  std::uint64_t content = kHashOfNothing;
  std::map<std::string, OpenJob> jobs = {};  // by identity
  std::vector<std::string> order = {};
  std::unordered_set<std::uint64_t> known = {};  // hashes of the series there are
  std::set<std::string> programs = {};
  Json labels = Json::object();
  std::int64_t earliest_ns = INT64_MAX;
  std::size_t values = 0;
};

ImportedRuns::ImportedRuns(ImportSettings settings) : settings_(std::move(settings)) {
  std::error_code failure;
  make_user_folders(settings_.runs, failure);
  fs::path runs = settings_.runs;
  if (!runs.has_filename()) runs = runs.parent_path();
  std::string name = (runs.parent_path() / "importing-XXXXXX").string();
  if (failure || mkdtemp(name.data()) == nullptr)
    throw_errno("make a folder next to " + settings_.runs.string(),
                "choose another location with --db FILE or $BENCHCTL_DB");
  folder_ = name;
}

ImportedRuns::~ImportedRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

ImportedJob ImportedRuns::completed(ImportedJob job) const {
  if (job.hosts.empty()) job.hosts = settings_.hosts;
  if (job.hosts.empty())
    throw Error(ErrorKind::input, settings_.file + ": no host found in the file",
                "give the host with --host node07, or --host node[01-08] for a multi-host job");
  if (job.ranks < 1) job.ranks = settings_.ranks.value_or(static_cast<int>(job.hosts.size()));
  if (job.time_ns == 0) job.time_ns = settings_.time_ns;
  return job;
}

ImportedRuns::OpenRun& ImportedRuns::run_of(const ImportedJob& job) {
  const auto found = open_.find(job.run);
  if (found != open_.end()) return found->second;
  if (open_.size() >= kMostRuns)
    throw Error(ErrorKind::input,
                fmt::format("{}: contains more than {} runs", settings_.file, kMostRuns),
                "split the file");
  OpenRun run;
  run.folder = folder_ / std::to_string(open_.size());
  run.labels = job.labels;
  run.labels.update(settings_.labels);
  fs::create_directory(run.folder);
  return open_.emplace(job.run, std::move(run)).first->second;
}

ImportedRuns::OpenJob& ImportedRuns::job_of(OpenRun& run, const ImportedJob& job) {
  const std::string identity = identity_of(job);
  const auto [at, is_new] = run.jobs.try_emplace(identity);
  if (is_new) {
    if (run.jobs.size() > kMostJobs)
      throw Error(ErrorKind::input,
                  fmt::format("{}: a run contains more than {} jobs", settings_.file, kMostJobs));
    at->second = OpenJob{fmt::format("{:02}.{}", run.jobs.size(), job.name), job};
    run.order.push_back(identity);
  }
  run.earliest_ns = std::min(run.earliest_ns, job.time_ns);
  return at->second;
}

void ImportedRuns::series(const ImportedJob& given, const Samples& samples) {
  const ImportedJob job = completed(given);
  OpenRun& run = run_of(job);
  if (!run.known.insert(content_hash_on(kHashOfNothing, identity_of(job, samples))).second)
    throw Error(ErrorKind::input,
                fmt::format("{}.{} {} of {} appears twice", job.tool, samples.metric,
                            excerpt(samples.params), job.hosts.front()),
                "a run holds each value once: put the rows in different runs");
  const OpenJob& open = job_of(run, job);
  run.values += samples.values.size();
  write(run, Record{open.id, job.hosts.front(), job.rank, job.time_ns, samples});
}

void ImportedRuns::ended(const ImportedJob& given, Status status, const std::string& reason) {
  const ImportedJob job = completed(given);
  OpenJob& open = job_of(run_of(job), job);
  if (worse(open.status, status) == open.status) return;
  open.status = status;
  open.reason = reason;
}

void ImportedRuns::facts(const ImportedJob& given, const Facts& facts) {
  const ImportedJob job = completed(given);
  OpenRun& run = run_of(job);
  const std::string of = facts.topic == "program" ? "" : job.hosts.front();
  if (!run.programs.insert(of + "\n" + facts.topic + dump(facts.facts)).second) return;
  write(run, Record{"", job.hosts.front(), 0, job.time_ns, facts});
}

void ImportedRuns::write(OpenRun& run, const Record& record) {
  const std::string line = dump(to_json(record)) + "\n";
  run.content = content_hash_on(run.content, line);
  run.waiting += line;
  if (run.waiting.size() >= kWaitingBytes) append_waiting(run);
}

void ImportedRuns::append_waiting(OpenRun& run) {
  std::ofstream out(run.folder / "records.jsonl", std::ios::binary | std::ios::app);
  out << run.waiting;
  out.close();
  if (!out) throw_errno("write " + (run.folder / "records.jsonl").string());
  run.waiting.clear();
}

namespace {

/// A power cut must not leave a run that looks imported and has no records.
void sync_records(const fs::path& folder) {
  const fs::path path = folder / "records.jsonl";
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) throw_errno("write " + path.string());
}

}  // namespace

Json ImportedRuns::plan(const std::string& name, const OpenRun& run) const {
  Json jobs = Json::array();
  for (const std::string& identity : run.order) {
    const OpenJob& open = run.jobs.at(identity);
    jobs.push_back({{"id", open.id},
                    {"case_name", open.job.name},
                    {"probe", open.job.tool},
                    {"device", open.job.device},
                    {"params", Json::object()},
                    {"hosts", open.job.hosts},
                    {"ranks", open.job.ranks},
                    {"binding", ""},
                    {"repeat", open.job.repeat}});
  }
  Json labels = run.labels;
  labels["imported"] = settings_.format;
  Json imported = {{"format", settings_.format}, {"file", settings_.file}};
  if (!name.empty()) imported["run"] = name;
  return {{"suite", settings_.format},
          {"digest", "imported"},
          {"time_ns", run.earliest_ns},
          {"labels", std::move(labels)},
          {"benchctl_version", version()},
          {"environment", Json::object()},
          {"command", {"benchctl", "import", settings_.format}},
          {"imported", std::move(imported)},
          {"gates", Json::object()},
          {"jobs", std::move(jobs)},
          {"skipped", Json::array()}};
}

/// Tells the user which jobs failed, and why.
void ImportedRuns::note_failures(const OpenRun& run) {
  constexpr std::size_t kShownFailures = 20;
  std::size_t failures = 0;
  for (const std::string& identity : run.order) {
    const OpenJob& open = run.jobs.at(identity);
    if (open.status == Status::ok || ++failures > kShownFailures) continue;
    note(fmt::format("{}: job {} {}: {}", settings_.file, open.id, to_string(open.status),
                     open.reason));
  }
  if (failures > kShownFailures)
    note(fmt::format("{}: {} more jobs failed", settings_.file, failures - kShownFailures));
}

/// The ends of its jobs and of itself, and its plan.
void ImportedRuns::finish(const std::string& name, OpenRun& run) {
  note_failures(run);
  for (const std::string& identity : run.order) {
    const OpenJob& open = run.jobs.at(identity);
    write(run, Record{open.id, open.job.hosts.front(), 0, open.job.time_ns,
                      Outcome{open.status, open.reason, 0.0}});
  }
  write(run, Record{"", "", -1, run.earliest_ns,
                    Event{kRunEndEvent, {{"state", "finished"}, {"seconds", 0.0}}}});
  append_waiting(run);
  const std::string text = plan(name, run).dump(1, ' ', false, Json::error_handler_t::replace);
  run.content = content_hash_on(run.content, dump(run.labels));
  fs::create_directory(run.folder / "log");
  sync_records(run.folder);
  replace_file(run.folder / "plan.json", text + "\n");
}

namespace {

/// All or none: the same file is imported once, so the rest could not follow later.
void move_into_place(std::vector<ImportedRun>& runs, const fs::path& folder) {
  std::error_code failure;
  std::size_t moved = 0;
  for (; moved < runs.size() && !failure; ++moved)
    fs::rename(runs[moved].folder, folder / runs[moved].run, failure);
  if (failure) {
    std::error_code ignored;
    for (std::size_t i = 0; i + 1 < moved; ++i)
      fs::rename(folder / runs[i].run, runs[i].folder, ignored);
    throw Error(ErrorKind::environment,
                "cannot create a run in " + folder.string() + ": " + failure.message(),
                "nothing was imported; fix this, then import again");
  }
  sync_folder(folder);
  for (ImportedRun& run : runs) run.folder = folder / run.run;
}

}  // namespace

std::vector<ImportedRun> ImportedRuns::keep() {
  std::vector<ImportedRun> kept;
  for (auto& [name, run] : open_) {
    finish(name, run);
    ImportedRun one;
    one.run = fmt::format("{}-{}-{:08x}", compact_time(run.earliest_ns), settings_.format,
                          run.content & 0xffffffff);
    one.folder = run.folder;
    one.time_ns = run.earliest_ns;
    one.jobs = run.jobs.size(), one.series = run.known.size(), one.values = run.values;
    if (fs::exists(settings_.runs / one.run))
      throw Error(ErrorKind::input, settings_.file + ": already imported as " + one.run,
                  "see `benchctl show " + one.run + "`");
    kept.push_back(std::move(one));
  }
  std::ranges::sort(kept, {}, &ImportedRun::run);
  move_into_place(kept, settings_.runs);
  return kept;
}

}  // namespace bench
