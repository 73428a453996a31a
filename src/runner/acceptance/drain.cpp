#include "runner/acceptance/drain.h"

#include <poll.h>
#include <unistd.h>

#include "core/error.h"
#include "core/text.h"
#include "results/output/verdicts/acceptance_output.h"
#include "runner/launch/process.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr Seconds kPatience{30.0};

std::string read_some(const Descriptor& fd) {
  char bytes[2000];
  const ssize_t got = read(fd.get(), bytes, sizeof bytes);
  return got > 0 ? printable(std::string_view(bytes, static_cast<std::size_t>(got))) : "";
}

std::string run_one(const std::vector<std::string>& words) {
  Process process(Command{words, {}});
  process.input.close();
  const auto deadline = after(kPatience);
  while (!process.ended() && Clock::now() < deadline) poll(nullptr, 0, 20);
  if (!process.ended()) return words.front() + " timed out";
  const Exit exit = process.reap();
  if (exit.clean()) return "";
  return words.front() + " failed with " + exit.text() + ": " + read_some(process.error);
}

bool is_plain(const std::string& word) {
  constexpr const char* kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./=:,@%+";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
}

}  // namespace

std::vector<Drain> drains(const Acceptance& acceptance) {
  std::vector<Drain> list;
  for (const HostAcceptance& host : acceptance.hosts)
    if (host.verdict == Verdict::fail)
      list.push_back({host.host,
                      {"scontrol", "update", "NodeName=" + host.host, "State=DRAIN",
                       "Reason=" + short_reason(host, kLongestReason)}});
  return list;
}

void run_drains(std::vector<Drain>& drains) {
  for (Drain& drain : drains) {
    try {
      drain.trouble = run_one(drain.command);
      drain.ran = drain.trouble.empty();
    } catch (const Error& error) {
      drain.trouble = error.what();
    }
  }
}

std::string shell_words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    quoted.push_back(is_plain(word) ? word : text + "'");
  }
  return join(quoted, " ");
}

}  // namespace bench
