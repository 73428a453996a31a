// Stands for a training that others wrote: prints an MLPerf log as one would, and misbehaves on
// demand. The words of its command line are done in order, so a test reads like the life of a
// training:
//   fake_trainer init start eval=100:0.5 eval=200:0.8 stop=success
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "core/mllog.h"
#include "core/text.h"
#include "core/time.h"

using namespace bench;

namespace {

std::string prefix;
std::int64_t skew_ms = 0;
std::int64_t position = 0;  // samples trained on

void put(const std::string& text, int fd = STDOUT_FILENO) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written < 0) _exit(99);
    done += static_cast<std::size_t>(written);
  }
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "(not set)" : value;
}

void log(const std::string& key, MllogEvent event, const Json& value = nullptr,
         Json metadata = Json::object()) {
  metadata["file"] = "fake_trainer.cpp";
  metadata["lineno"] = 1;
  put(prefix + to_text({"", now_ns() / 1'000'000 + skew_ms, event, key, value, metadata}) + "\n");
}

void point(const std::string& key, const Json& value) {
  log(key, MllogEvent::point_in_time, value);
}

/// "200:0.8": trains up to that many samples, then evaluates to that quality.
void evaluate(const std::string& word) {
  const auto colon = word.find(':');
  const Json before = {{"samples_count", position}};
  log("block_start", MllogEvent::interval_start, nullptr, before);
  usleep(20'000);
  position = std::stoll(word.substr(0, colon));
  const Json now = {{"samples_count", position}};
  log("block_stop", MllogEvent::interval_end, nullptr, now);
  log("eval_start", MllogEvent::interval_start, nullptr, now);
  usleep(10'000);
  log("eval_accuracy", MllogEvent::point_in_time, std::strtod(word.c_str() + colon + 1, nullptr),
      now);
  log("eval_stop", MllogEvent::interval_end, nullptr, now);
}

void stop(const std::string& status) {
  Json metadata = {{"samples_count", position}};
  if (!status.empty()) metadata["status"] = status;
  log("run_stop", MllogEvent::interval_end, nullptr, metadata);
}

/// Out of our session and process group, and no child of ours: its number goes to a file.
void leave_a_daemon(const std::string& file) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  signal(SIGTERM, SIG_IGN);
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  put(std::to_string(getpid()) + "\n", fd);
  for (;;) pause();
}

void flood(const std::string& count) {
  const std::string line(1000, '.');
  for (int i = std::stoi(count); i > 0; --i) put(line + "\n", i % 2 == 0 ? 1 : 2);
}

const std::map<std::string, std::function<void(const std::string&)>> kWords = {
    {"init", [](const auto&) { log("init_start", MllogEvent::interval_start); }},
    {"start",
     [](const auto&) {
       log("init_stop", MllogEvent::interval_end);
       log("run_start", MllogEvent::interval_start);
     }},
    {"eval", evaluate},
    {"stop", stop},
    {"throughput",
     [](const auto& word) {
       point("tracked_stats", {{"throughput", std::stod(word)}});
     }},
    {"point",  // KEY:VALUE
     [](const auto& word) {
       const auto colon = word.find(':');
       point(word.substr(0, colon), Json::parse(word.substr(colon + 1)));
     }},
    {"seed", [](const auto&) { point("seed", std::stoll(variable("BENCH_SEED"))); }},
    {"prefix", [](const auto& word) { prefix = word; }},
    {"skew_ms", [](const auto& word) { skew_ms = std::stoll(word); }},
    {"say", [](const auto& word) { put(word + "\n"); }},
    {"raw", [](const auto& word) { put(word); }},
    {"variable", [](const auto& word) { put(word + "=" + variable(word) + "\n"); }},
    {"complain", [](const auto& word) { put(word + "\n", STDERR_FILENO); }},
    {"flood", flood},
    {"sleep_ms",
     [](const auto& word) { usleep(static_cast<useconds_t>(std::stoul(word) * 1000)); }},
    {"daemon", leave_a_daemon},
    {"mark",  // that it was here
     [](const auto& word) {
       put("here\n", open(word.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
     }},
    {"stubborn", [](const auto&) { signal(SIGTERM, SIG_IGN); }},
    {"hang",
     [](const auto&) {
       for (;;) pause();
     }},
    {"exit", [](const auto& word) { _exit(std::stoi(word)); }},
    {"signal", [](const auto& word) { raise(std::stoi(word)); }},
    {"only_rank",  // the others end well here
     [](const auto& word) {
       if (variable("RANK") != word) _exit(0);
     }},
    {"unless_rank",  // the others wait for ever
     [](const auto& word) {
       while (variable("RANK") != word) pause();
     }},
};

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    const auto found = kWords.find(word.substr(0, equals));
    if (found == kWords.end()) {
      std::fprintf(stderr, "fake_trainer: what is '%s'?\n", word.c_str());
      return 64;
    }
    found->second(equals == std::string::npos ? "" : word.substr(equals + 1));
  }
}
