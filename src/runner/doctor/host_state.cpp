#include "runner/doctor/host_state.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "core/error.h"
#include "core/locations.h"
#include "core/text.h"
#include "runner/plan/planner.h"

namespace bench {
namespace {

constexpr Seconds kPatience{30.0};
constexpr std::size_t kMostBusy = 3;

// POSIX sh, without single quotes, backslashes or "!": every login shell passes it on unchanged.
// top measures for a second; ps would show averages over the life of a process.
constexpr const char* kScript = R"sh(
one() { head -n 1 "$2" 2>/dev/null | while read -r line; do echo "$1 $line"; done; };
has() { command -v "$1" >/dev/null 2>&1 && echo "$1 yes"; };
echo "clock $(date +%s)";
echo "rank $("$1" --version 2>/dev/null | head -n 1)";
echo "rank_cuda $("$1-cuda" --version 2>/dev/null | head -n 1)";
echo "mpirun $(mpirun --version 2>/dev/null | head -n 1)";
for tool in ssh srun apt-get dnf systemctl; do has $tool; done;
echo "cpus $(nproc 2>/dev/null)";
echo "memlock $(ulimit -l)";
echo "files $(ulimit -n)";
group=$(sed -n "s/^0:://p" /proc/self/cgroup 2>/dev/null);
while [ -n "$group" ]; do
  quota=$(cat "/sys/fs/cgroup$group/cpu.max" 2>/dev/null);
  case "$quota" in ""|max*) ;; *) echo "quota $quota $group";; esac;
  [ "$group" = "/" ] && break;
  group=${group%/*}; [ -n "$group" ] || break;
done;
one governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor;
one boost /sys/devices/system/cpu/cpufreq/boost;
one no_turbo /sys/devices/system/cpu/intel_pstate/no_turbo;
one huge_pages /sys/kernel/mm/transparent_hugepage/enabled;
one numa_balancing /proc/sys/kernel/numa_balancing;
echo "numa_nodes $(ls -d /sys/devices/system/node/node[0-9]* 2>/dev/null | wc -l)";
gpus=0;
for vendor in /sys/bus/pci/devices/*/vendor; do
  [ "$(cat "$vendor" 2>/dev/null)" = 0x10de ] || continue;
  case "$(cat "${vendor%vendor}class" 2>/dev/null)" in 0x0300*|0x0302*) gpus=$((gpus + 1));; esac;
done;
echo "gpus $gpus";
one driver /proc/driver/nvidia/version;
ls /sys/class/infiniband 2>/dev/null | grep -q . && echo "infiniband yes";
echo "synchronised $(timedatectl show --property=NTPSynchronized --value 2>/dev/null)";
LC_ALL=C top -b -n 2 -d 1 -w 200 2>/dev/null | tac | sed -n "/^ *PID/q; s/^/busy /p" |
  while read -r word pid user pr ni virt res shr s cpu mem time name; do echo "busy $cpu $pid $name"; done | sort -k 2 -n -r | head -n 3;
exit 0)sh";

/// A finite number that is the whole text.
std::optional<double> decimal(std::string_view text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = error == std::errc() && stop == end && std::isfinite(value);
  return whole ? std::optional(value) : std::nullopt;
}

/// `chosen` by the user, else that of the hosts file on other hosts, else the one next to benchctl.
std::string rank_program_on(const Place& place, const LaunchSettings& settings,
                            const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  if (!place.here && !settings.rank_program.empty()) return settings.rank_program;
  return (program_folder() / "bench-rank").string();
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string HostState::fact(const std::string& name) const {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

std::optional<double> HostState::number(const std::string& name) const {
  return decimal(fact(name));
}

std::vector<std::string> doctor_command(const std::string& program, bool shell) {
  return script_command(kScript, "benchctl-doctor", {program}, shell);
}

std::optional<double> quota_of(const std::string& text) {
  const auto words = words_of(std::string_view(text));
  if (words.size() < 2) return std::nullopt;
  const auto most = decimal(words[0]), period = decimal(words[1]);
  if (!most || !period || !(*period > 0.0)) return std::nullopt;
  return *most / *period;
}

HostState state_from(const HostSession& answer) {
  HostState state;
  state.host = answer.host;
  state.trouble = printable(answer.trouble);
  const std::string text = answer.output;
  for (const std::string_view line : words_of(text, "\n")) {
    const auto space = line.find(' ');
    const std::string name(line.substr(0, space));
    const std::string value =
        space == std::string_view::npos ? "" : printable(trim(line.substr(space)));
    if (name != "busy") {
      if (value.empty()) continue;
      // Of nested cgroups the smallest quota counts.
      const auto known = state.facts.find(name);
      if (known == state.facts.end())
        state.facts.emplace(name, value);
      else if (name == "quota" && quota_of(value) < quota_of(known->second))
        known->second = value;
      continue;
    }
    const auto words = words_of(std::string_view(value));
    const auto percent = words.size() == 3 ? decimal(words[0]) : std::nullopt;
    if (percent && state.busy.size() < kMostBusy)
      state.busy.push_back({*percent / 100.0, std::string(words[1]), std::string(words[2])});
  }
  return state;
}

std::vector<HostState> ask_hosts(const Inventory& inventory, const Interrupts& interrupts,
                                 const std::string& program) {
  const Reach reach = reach_by_agent(inventory.launch);
  std::vector<HostSession> sessions;
  std::vector<bool> here;
  for (const Host& host : inventory.hosts) {
    const Place place = place_on(host, 1);
    const std::string there = rank_program_on(place, inventory.launch, program);
    sessions.push_back(
        session_on(place, reach, [&](bool shell) { return doctor_command(there, shell); }));
    here.push_back(place.here);
  }
  const double begin = now_s();
  run_sessions(sessions, "", kPatience, interrupts);
  const double end = now_s();
  if (interrupts.count() > 0) throw Error(ErrorKind::interrupted, "interrupted while asking hosts");
  std::vector<HostState> states;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    states.push_back(state_from(sessions[i]));
    states.back().here = here[i];
    states.back().asked_s = begin;
    states.back().answered_s = end;
  }
  return states;
}

}  // namespace bench
