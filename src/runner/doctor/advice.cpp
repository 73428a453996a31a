#include "runner/doctor/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "runner/doctor/other_work.h"

namespace bench {
namespace {

constexpr double kClockTolerance_s = 2.0;
constexpr double kFilesForManyHosts = 4096;
constexpr double kLockedKib = 64.0 * 1024;  // what RDMA queues of one rank take

Advice fine(const char* check, std::string found) {
  return {check, Need::none, std::move(found), "", "", {}};
}

Advice unknown(const char* check, const char* fact) {
  return {check, Need::unknown, std::string(fact) + " is not readable", "", "", {}};
}

std::string install_command(const HostState& host, const char* apt, const char* dnf) {
  if (!host.fact("apt-get").empty()) return std::string("sudo apt-get install ") + apt;
  if (!host.fact("dnf").empty()) return std::string("sudo dnf install ") + dnf;
  return "";
}

/// "bench-rank 0.1.0+abc" -> "0.1.0+abc".
std::string version_of(const std::string& text) { return text.substr(text.rfind(' ') + 1); }

Advice rank_program(const HostState& host, const DoctorQuestion& question) {
  const std::string found = host.fact("rank");
  const std::string command = host.here ? "scripts/build"
                                        : "scripts/bundle && benchctl run SUITE --hosts " +
                                              question.hosts_file +
                                              " --stage build/benchctl-bundle.tar.xz";
  if (found.empty())
    return {"bench-rank", Need::repair, "not found", "nothing can be measured here", command, {}};
  if (version_of(found) != question.version)
    return {"bench-rank",
            Need::repair,
            found + ", but benchctl is " + question.version,
            "programs of different versions do not run together",
            command,
            {}};
  return fine("bench-rank", found);
}

Advice mpi(const HostState& host, const DoctorQuestion& question) {
  const std::string found = host.fact("mpirun");
  if (!found.empty()) return fine("MPI", found);
  if (!host.fact("srun").empty()) return fine("MPI", "no mpirun; Slurm starts ranks");
  return {"MPI",
          question.several ? Need::repair : Need::note,
          "mpirun is not in PATH",
          question.several ? "no case with ranks on several hosts can run"
                           : "cases with several ranks are skipped",
          install_command(host, "openmpi-bin", "openmpi"),
          {}};
}

Advice remote_shell(const HostState& host) {
  if (!host.fact("ssh").empty()) return fine("ssh", "found");
  return {"ssh",
          Need::repair,
          "not in PATH",
          "other hosts cannot be reached",
          install_command(host, "openssh-client", "openssh-clients"),
          {}};
}

Advice gpu(const HostState& host) {
  const auto count = host.number("gpus");
  if (!count) return unknown("GPU", "/sys/bus/pci");
  if (*count == 0.0) return fine("GPU", "no NVIDIA GPU");
  const std::string found = fmt::format("{:.0f} NVIDIA GPU{}", *count, *count == 1.0 ? "" : "s");
  if (host.fact("driver").empty())
    return {"GPU",
            Need::repair,
            found + ", no driver loaded",
            "GPUs cannot be measured; install NVIDIA's driver if modprobe does not find it",
            "sudo modprobe nvidia",
            {}};
  if (host.fact("rank_cuda").empty())
    return {"GPU",
            Need::repair,
            found + ", no bench-rank-cuda",
            "GPUs are skipped",
            "scripts/build --cuda on",
            {}};
  return fine("GPU", found + ", " + host.fact("driver"));
}

Advice quota(const HostState& host) {
  const std::string text = host.fact("quota");
  const auto words = words_of(std::string_view(text));
  const auto most = quota_of(text);
  const auto cpus = host.number("cpus");
  if (!most) return fine("CPU quota", "none");
  const std::string found = fmt::format("{:.1f} CPUs", *most);
  if (cpus && *most >= *cpus) return fine("CPU quota", found);
  const std::string group(words.size() == 3 ? words[2] : "");
  return {"CPU quota",
          Need::repair,
          found + (cpus ? fmt::format(" of {:.0f}", *cpus) : std::string()) + " in cgroup " + group,
          "results are those of the quota, not of the host",
          "echo max | sudo tee " + shell_quoted("/sys/fs/cgroup" + group + "/cpu.max"),
          {}};
}

Advice other_work(const HostState& host) {
  const std::string found = other_work_on(host);
  if (host.busy.empty()) return unknown("other work", "the output of top");
  if (found.empty()) return fine("other work", "none");
  return {"other work", Need::repair,
          found,        "samples that it disturbs are discarded; stop it, or wait until it ends",
          "top",        {}};
}

Advice clock(const HostState& host) {
  const auto time = host.number("clock");
  if (!time) return unknown("clock", "date +%s");
  const double late = host.asked_s - *time, early = *time - host.answered_s;
  const double off = std::max(late, early);
  const char* command = "sudo timedatectl set-ntp true";
  if (off > kClockTolerance_s)
    return {"clock",
            Need::repair,
            fmt::format("{:.0f} s {} this host's", off, late > early ? "behind" : "ahead of"),
            "telemetry and logs of hosts cannot be put in order",
            command,
            {}};
  if (host.fact("synchronised") == "no")
    return {"clock", Need::note, "not synchronised", "it will drift from other hosts'",
            command, {}};
  return fine("clock", host.fact("synchronised") == "yes" ? "synchronised" : "right");
}

Advice governor(const HostState& host) {
  const std::string found = host.fact("governor");
  if (found.empty()) return fine("clock governor", "none (a virtual machine, or the firmware's)");
  if (found == "performance") return fine("clock governor", found);
  return {"clock governor",
          Need::note,
          found,
          "short measurements begin at a low clock",
          "sudo cpupower frequency-set --governor performance",
          {}};
}

Advice boost(const HostState& host) {
  if (host.fact("boost") == "0")
    return {"clock boost",
            Need::note,
            "off",
            "CPUs stay at their base clock",
            "echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
            {}};
  if (host.fact("no_turbo") == "1")
    return {"clock boost",
            Need::note,
            "off",
            "CPUs stay at their base clock",
            "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
            {}};
  return fine("clock boost", "not disabled");
}

Advice huge_pages(const HostState& host) {
  const std::string found = host.fact("huge_pages");
  if (found.find("[never]") == std::string::npos) return fine("huge pages", found);
  return {"huge pages",
          Need::note,
          found,
          "memory is measured with small pages",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
          {}};
}

Advice numa_balancing(const HostState& host) {
  const bool several = host.number("numa_nodes").value_or(1.0) > 1.0;
  if (!several || host.fact("numa_balancing") != "1")
    return fine("NUMA balancing", several ? "off" : "one NUMA node");
  return {"NUMA balancing",
          Need::note,
          "on",
          "the kernel moves pages while they are measured",
          "sudo sysctl kernel.numa_balancing=0",
          {}};
}

Advice locked_memory(const HostState& host) {
  const std::string found = host.fact("memlock");
  const auto kib = host.number("memlock");
  if (!kib || *kib >= kLockedKib)
    return found.empty() ? unknown("locked memory", "ulimit -l") : fine("locked memory", found);
  const bool rdma = !host.fact("infiniband").empty();
  if (!rdma) return fine("locked memory", fmt::format("{:.0f} MiB, no RDMA card", *kib / 1024));
  return {"locked memory",
          Need::repair,
          fmt::format("limit of {:.0f} MiB", *kib / 1024),
          "MPI cannot use the RDMA cards",
          "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/95-benchctl.conf",
          {}};
}

Advice open_files(const HostState& host, std::size_t hosts) {
  const std::string found = host.fact("files");
  const auto most = host.number("files");
  if (!most || *most >= kFilesForManyHosts || hosts < 200) return fine("open files", found);
  return {"open files",      Need::note, "limit of " + found, "that is little for this many hosts",
          "ulimit -n 65536", {}};
}

Advice silence(const HostState& host) {
  return {"answer",
          Need::repair,
          host.trouble,
          "nothing is known of it",
          "ssh " + shell_quoted(host.host) + " true",
          {}};
}

std::vector<Advice> advice_for(const HostState& host, const DoctorQuestion& question,
                               std::size_t hosts) {
  if (!host.trouble.empty()) return {silence(host)};
  std::vector<Advice> all = {rank_program(host, question), mpi(host, question), gpu(host)};
  if (host.here && question.several) all.push_back(remote_shell(host));
  if (host.here) all.push_back(open_files(host, hosts));
  for (const auto check :
       {quota, other_work, clock, governor, boost, huge_pages, numa_balancing, locked_memory})
    all.push_back(check(host));
  return all;
}

/// Open MPI demands one version everywhere.
void compare_mpi(const std::vector<HostState>& hosts, std::vector<Advice>& all) {
  std::vector<std::string> versions;
  for (const HostState& host : hosts)
    if (const std::string one = host.fact("mpirun"); !one.empty()) versions.push_back(one);
  std::ranges::sort(versions);
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  if (versions.size() < 2) return;
  for (Advice& one : all) {
    if (one.check != "MPI" || one.need != Need::none) continue;
    one.need = Need::repair;
    one.why = fmt::format(
        "{} versions on these hosts; ranks of different versions do not start "
        "together",
        versions.size());
  }
}

}  // namespace

const char* to_string(Need need) {
  switch (need) {
    case Need::none:
      return "ok";
    case Need::note:
      return "note";
    case Need::repair:
      return "repair";
    case Need::unknown:
      break;
  }
  return "unknown";
}

std::vector<Advice> advice_for(const std::vector<HostState>& hosts,
                               const DoctorQuestion& question) {
  std::vector<Advice> all;
  for (const HostState& host : hosts)
    for (Advice& one : advice_for(host, question, hosts.size())) {
      const auto equal = std::ranges::find_if(all, [&](const Advice& other) {
        return other.check == one.check && other.need == one.need && other.found == one.found &&
               other.command == one.command;
      });
      Advice& entry = equal == all.end() ? all.emplace_back(std::move(one)) : *equal;
      entry.hosts.push_back(host.host);
    }
  compare_mpi(hosts, all);
  return all;
}

Need worst(const std::vector<Advice>& advice) {
  Need found = Need::none;
  for (const Advice& one : advice)
    if (one.need == Need::repair || (one.need == Need::note && found != Need::repair))
      found = one.need;
  return found;
}

}  // namespace bench
