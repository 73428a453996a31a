// A rank program that speaks the wire protocol and misbehaves on demand, for tests of the
// dispatcher. The fault comes from the job's parameter "fault" or, at the start, from
// $FAULTY_RANK_START.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/job.h"
#include "core/text.h"
#include "core/time.h"
#include "core/version.h"
#include "core/wire.h"

using namespace bench;

namespace {

void put(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(1, text.data() + done, text.size() - done);
    if (written < 0) _exit(9);
    done += static_cast<std::size_t>(written);
  }
}

std::string line(const std::string& job, decltype(Record::body) body) {
  Record record;
  record.job = job;
  const char* host = std::getenv("FAULTY_RANK_HOST");  // one of many, in a test of scale
  record.host = host == nullptr ? "fake" : host;
  record.time_ns = now_ns();
  record.body = std::move(body);
  return frame(record);
}

/// The next line of $FAULTY_RANK_VALUES, taken out of the file; its last one stays and is said for
/// ever. 0 without the variable.
double told_value() {
  const char* file = std::getenv("FAULTY_RANK_VALUES");
  if (file == nullptr) return 0.0;
  std::ifstream in(file);
  double first = 0.0;
  in >> first;
  const std::string rest((std::istreambuf_iterator<char>(in)), {});
  if (rest.find_first_not_of("\n ") != std::string::npos) std::ofstream(file) << rest;
  return first;
}

/// What  says of hosts with eight GPUs each: "node03 cuda:5 slow; node07 cuda:1 cuda:2
/// crash", where all that are named have to take part. "*" is every host.
struct FaultyGpus {
  std::string host, how;
  std::vector<std::string> devices = {};
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::vector<FaultyGpus> faulty_gpus() {
  const char* text = std::getenv("FAULTY_GPUS");
  std::vector<FaultyGpus> list;
  for (const std::string& one : split(text == nullptr ? "" : text, ';')) {
    const auto words = split(one, ' ');
    list.push_back({words.front(), words.back(), {words.begin() + 1, words.end() - 1}});
  }
  return list;
}

/// Those that the ranks of a host drive.
std::vector<std::string> driven_gpus(const Job& job) {
  if (const char* some = std::getenv("BENCH_DEVICE")) return split(some, ',');
  std::vector<std::string> all;
  for (int i = 0; i < job.ranks / static_cast<int>(job.hosts.size()); ++i)
    all.push_back("cuda:" + std::to_string(i));
  return all;
}

/// "slow", "crash", or "" where none of what is wrong takes part.
std::string fault_of_gpus(const Job& job) {
  const auto driven = driven_gpus(job);
  for (const FaultyGpus& one : faulty_gpus()) {
    const auto takes_part = [&](const std::string& device) {
      return std::ranges::find(driven, device) != driven.end();
    };
    const bool host = one.host == "*" || std::ranges::find(job.hosts, one.host) != job.hosts.end();
    if (host && std::ranges::all_of(one.devices, takes_part)) return one.how;
  }
  return "";
}

/// As of a collective: fewer GPUs reach less, a slow one holds all others up.
std::string gpu_samples(const Job& job) {
  Samples result;
  result.metric = "busbw";
  result.unit = Unit::byte_per_second;
  result.better = Better::higher;
  result.over = "max";
  const auto count = static_cast<double>(driven_gpus(job).size());
  const double rate = (fault_of_gpus(job) == "slow" ? 1e9 : 10e9) * count;
  result.values.assign(40, rate);
  result.flags.assign(40, kClean);
  result.stop = "fixed";
  return line(job.id, result);
}

std::string samples(const Job& job) {
  if (std::getenv("FAULTY_GPUS") != nullptr) return gpu_samples(job);
  Samples result;
  result.metric = "value";
  result.unit = Unit::count;
  result.better = Better::higher;
  result.values = {1.0, 2.0, 3.0};
  result.flags = {0, 0, 0};
  result.stop = "fixed";
  if (const double value = told_value(); value > 0.0)
    result.values.assign(400, value), result.flags.assign(400, kClean);
  if (job.params->contains("dtype")) result.params["dtype"] = job.params["dtype"];
  return line(job.id, result);
}

std::string outcome(const Job& job, Status status = Status::ok, const std::string& reason = "") {
  return line(job.id, Outcome{status, reason, 0.001});
}

void wait_for_ever() {
  for (;;) pause();
}

void crash() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::cerr << "about to touch what is not mine" << std::endl;
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

/// A child in the same session that keeps the pipes open.
void leave_a_grandchild() {
  if (fork() != 0) return;
  sleep(600);
  _exit(0);
}

void ignore_sigterm() {
  signal(SIGTERM, SIG_IGN);
  wait_for_ever();
}

void very_long_line() {
  const std::string part(1u << 20, 'x');
  for (int i = 0; i < 100; ++i) put(part);
  put("\n");
}

void talk_for_ever() {
  for (;;) put("la la la\n");
}

std::string damaged(std::string good) {
  good[good.size() / 2] = good[good.size() / 2] == 'x' ? 'y' : 'x';
  return good;
}

std::string with_checksum(const std::string& json) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", checksum(json));
  return std::string(kWireMarker) + digits + " " + json + "\n";
}

/// Ends the process, or returns to have the job end well.
const std::map<std::string, std::function<void(const Job&)>> kFaults = {
    {"crash", [](const Job&) { crash(); }},
    {"exit3", [](const Job&) { std::cerr << "giving up" << std::endl, _exit(3); }},
    {"exit0", [](const Job&) { _exit(0); }},
    {"hang", [](const Job&) { wait_for_ever(); }},
    {"stubborn", [](const Job&) { ignore_sigterm(); }},
    {"garbage", [](const Job& job) { put(damaged(samples(job))), wait_for_ever(); }},
    {"invalid",
     [](const Job&) { put(with_checksum("{\"kind\": \"nonsense\"}")), wait_for_ever(); }},
    {"not_json", [](const Job&) { put(with_checksum("{\"kind\": ")), wait_for_ever(); }},
    {"long_line", [](const Job&) { very_long_line(); }},
    {"chatter", [](const Job&) { talk_for_ever(); }},
    {"foreign", [](const Job&) { put(line("99.other", Outcome{})), wait_for_ever(); }},
    {"closed", [](const Job&) { close(1), wait_for_ever(); }},
    {"late", [](const Job& job) { put(outcome(job) + samples(job)), wait_for_ever(); }},
    {"late_ok", [](const Job& job) { put(outcome(job, Status::failed, "no") + outcome(job)); }},
    {"later",
     [](const Job& job) {
       put(outcome(job));
       usleep(100'000);
       put(samples(job));
       wait_for_ever();
     }},
    {"late_at_end",
     [](const Job& job) {
       put(outcome(job));
       std::string next;
       while (std::getline(std::cin, next)) {
       }
       put(samples(job));
       _exit(0);
     }},
    {"grandchild",
     [](const Job&) {
       leave_a_grandchild();
       _exit(5);
     }},
    {"torn",
     [](const Job& job) {
       const std::string whole = outcome(job);
       put(whole.substr(0, whole.size() / 2));
       _exit(0);
     }},
    {"slow",
     [](const Job& job) { usleep(static_cast<useconds_t>(job.params->value("ms", 100) * 1000)); }},
    {"count",  // for ever, each record with the next number
     [](const Job& job) {
       for (int i = 0;; ++i) {
         put(line(job.id, Event{"number", i}));
         usleep(100);
       }
     }},
    {"limits",
     [](const Job& job) {
       put(line(job.id, Event{"limits", to_json(job).at("limits")}));
     }},
    {"no_exit", [](const Job& job) { put(outcome(job)), wait_for_ever(); }},
};

void start() {
  const char* name = std::getenv("FAULTY_RANK_START");
  const std::string fault = name == nullptr ? "" : name;
  if (fault == "silent") wait_for_ever();
  if (fault == "crash") crash();
  const std::string ours = fault == "version" ? "0.0.0+other" : std::string(version());
  Json hosts = {{"host", ours}};
  const char* count = std::getenv("FAULTY_RANK_HOSTS");
  for (int i = 1; count != nullptr && i < std::atoi(count); ++i)
    hosts["host" + std::to_string(i)] = ours;
  put(line("", Facts{"program", {{"program", "bench-rank"}, {"version", ours}, {"hosts", hosts}}}));
  put(line("", Facts{"host", {{"cpu", "fake"}}}));
}

void serve(const Job& job) {
  std::string fault = job.params->value("fault", "");
  if (const char* name = std::getenv("FAULTY_RANK"); name != nullptr && fault.empty()) fault = name;
  put(samples(job));
  std::cerr << "serving " << job.id << std::endl;
  if (fault.empty() && fault_of_gpus(job) == "crash") fault = "exit3";
  if (const auto found = kFaults.find(fault); found != kFaults.end()) found->second(job);
  put(outcome(job));
}

}  // namespace

int main() {
  start();
  for (std::string text; std::getline(std::cin, text);)
    serve(job_from_json(parse_json(text, "job")));
}
