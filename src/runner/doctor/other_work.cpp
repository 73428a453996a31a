#include "runner/doctor/other_work.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>

#include "core/hostlist.h"
#include "core/log.h"

namespace bench {
namespace {

constexpr double kBusyCpus = 0.1;
constexpr double kBetweenS = 5.0;

bool wait_for_idle(const Inventory& inventory, Seconds wait, const Interrupts& interrupts) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(wait.value);
  const auto left = [&] { return std::chrono::duration<double>(end - Clock::now()).count(); };
  while (left() > 0.0) {
    pollfd signal{interrupts.fd(), POLLIN, 0};
    poll(&signal, 1, static_cast<int>(1000.0 * std::clamp(left(), 0.0, kBetweenS)));
    if (other_work_on(ask_hosts(inventory, interrupts)).empty()) return true;
  }
  return false;
}

}  // namespace

std::string other_work_on(const HostState& host) {
  std::string text;
  for (const BusyProcess& one : host.busy)
    if (one.cpus >= kBusyCpus && one.name != "top")
      text += fmt::format("{}{} (pid {}) uses {:.1f} CPUs", text.empty() ? "" : ", ", one.name,
                          one.pid, one.cpus);
  return text;
}

std::vector<std::string> other_work_on(const std::vector<HostState>& hosts) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const HostState& host : hosts) {
    const std::string work = other_work_on(host);
    if (work.empty()) continue;
    auto group = std::ranges::find(groups, work, [](const auto& one) { return one.first; });
    if (group == groups.end()) group = groups.insert(group, {work, {}});
    group->second.push_back(host.host);
  }
  std::vector<std::string> lines;
  for (const auto& [work, names] : groups) lines.push_back(compact_hostlist(names) + ": " + work);
  return lines;
}

void report_other_work(const Inventory& inventory, Seconds wait) {
  const Interrupts interrupts;
  const auto found = other_work_on(ask_hosts(inventory, interrupts));
  if (found.empty()) return;
  for (const std::string& line : found) say(Level::warning, "other work on " + line);
  if (wait.value <= 0.0) {
    say(Level::info, "  what it disturbs cannot be judged: stop it, or add --wait-idle SECONDS");
    return;
  }
  say(Level::info, fmt::format("waiting up to {:.0f} s until it ends", wait.value));
  if (!wait_for_idle(inventory, wait, interrupts))
    say(Level::warning, "other work has not ended; measuring anyway");
}

}  // namespace bench
