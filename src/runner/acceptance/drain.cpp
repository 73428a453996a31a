#include "runner/acceptance/drain.h"

#include "core/error.h"
#include "core/text.h"
#include "results/output/verdicts/acceptance_output.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"
#include "runner/launch/rank_process.h"

namespace bench {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr Seconds kPatience{30.0};

std::string run_one(const std::vector<std::string>& words) {
  constexpr std::size_t kTalkKept = 2000;
  Process process(Command{words, {}});
  Printed printed;
  if (!run_until(process, after(kPatience), kTalkKept, printed))
    return words.front() + " timed out";
  const Exit exit = process.reap();
  if (exit.clean()) return "";
  return words.front() + " failed with " + exit.text() + ": " + printable(printed.error);
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
  for (const std::string& word : words)
    quoted.push_back(is_plain(word) ? word : shell_quoted(word));
  return join(quoted, " ");
}

}  // namespace bench
