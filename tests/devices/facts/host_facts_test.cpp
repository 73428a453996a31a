#include "devices/facts/host_facts.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/system_files.h"
#include "devices/facts/cgroup_limits.h"
#include "devices/facts/host_pressure.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

namespace {

/// A machine made of files: two packages of two cores with two threads each, nothing wrong with it.
class FakeMachine {
 public:
  FakeMachine() {
    const std::map<std::string, std::string> files = {
        {"proc/sys/kernel/hostname", "node07\n"},
        {"proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"},
        {"etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"},
        {"proc/cpuinfo",
         "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
         "model name\t: AMD EPYC 9354 32-Core Processor\nstepping\t: 1\nmicrocode\t: 0xa101144\n"
         "flags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\nmodel name\t: another\n"},
        {"proc/self/status", "Name:\tbench-rank\nCpus_allowed_list:\t0-7\n"},
        {"proc/self/limits",
         "Limit                     Soft Limit           Hard Limit           Units     \n"
         "Max locked memory         unlimited            unlimited            bytes     \n"},
        {"proc/self/cgroup", "0::/job\n"},
        {"sys/fs/cgroup/job/cpu.max", "max 100000\n"},
        {"sys/fs/cgroup/job/memory.max", "max\n"},
        {"proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\n"},
        {"proc/stat", "cpu  1000 0 1000 8000 0 0 0 0 5 0\ncpu0 1 0 1 8 0 0 0 0 0 0\n"},
        {"proc/loadavg", "0.10 0.20 0.30 1/200 4321\n"},
        {"sys/devices/system/cpu/online", "0-7\n"},
        {"sys/devices/system/cpu/smt/active", "1\n"},
        {"sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n"},
        {"sys/devices/system/cpu/cpufreq/boost", "1\n"},
        {"sys/devices/system/node/online", "0-1\n"},
        {"sys/devices/system/node/node0/meminfo",
         "Node 0 MemTotal:  8388608 kB\nNode 0 MemFree: 1 kB\n"},
        {"sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  8388608 kB\n"},
        {"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
        {"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "4\n"},
        {"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n"},
        {"sys/class/dmi/id/sys_vendor", "Supermicro\n"},
        {"sys/class/dmi/id/product_name", "AS-1015\n"},
        {"sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"},
    };
    for (const auto& [path, text] : files) write(path, text);
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      const int core = cpu % 4;
      write(folder + "thread_siblings_list",
            std::to_string(core) + "," + std::to_string(core + 4) + "\n");
      write(folder + "core_siblings_list", core < 2 ? "0-1,4-5\n" : "2-3,6-7\n");
    }
  }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(folder_.path() / path); }
  Json facts(int own_processes = 1) const { return read_host_facts(folder_.path(), own_processes); }
  SystemFiles files() const { return SystemFiles(folder_.path()); }

 private:
  TemporaryDirectory folder_;
};

/// The machine's warning that contains `words`; "" when none does.
std::string warning(const FakeMachine& machine, const std::string& words) {
  const Json facts = machine.facts();
  for (const Json& text : facts.at("warnings"))
    if (text.get<std::string>().find(words) != std::string::npos) return text.get<std::string>();
  return "";
}

}  // namespace

TEST_CASE("a host's facts are read from its files") {
  const Json facts = FakeMachine().facts();
  const Json expected = {{"hostname", "node07"},
                         {"kernel", "6.1.0-18-amd64"},
                         {"os", "Debian GNU/Linux 12"},
                         {"cpu_model", "AMD EPYC 9354 32-Core Processor"},
                         {"vendor", "AuthenticAMD"},
                         {"family", "25"},
                         {"model", "17"},
                         {"stepping", "1"},
                         {"packages", 2},
                         {"cores", 4},
                         {"hardware_threads", 8},
                         {"allowed_cpus", 8},
                         {"numa_nodes", 2},
                         {"smt", "on"},
                         {"governor", "performance"},
                         {"turbo", "on"},
                         {"memory_bytes", 17179869184},
                         {"memory_of_nodes_bytes", 17179869184},
                         {"thp", "madvise"},
                         {"cpu_quota_cores", "none"},
                         {"memory_limit_bytes", "none"},
                         {"memlock_bytes", "none"},
                         {"virtualization", "none"},
                         {"product", "AS-1015"},
                         {"steal_share", 0.0},
                         {"clocksource", "tsc"}};
  for (const auto& [key, value] : expected.items()) {
    INFO(key);
    CHECK(facts.at(key) == value);
  }
  CHECK(facts.at("huge_pages") ==
        Json::array({{{"size_bytes", 2097152}, {"total", 4}, {"free", 3}}}));
}

TEST_CASE("a host with nothing wrong has no complaints") {
  CHECK(FakeMachine().facts().at("warnings") == Json::array());
}

TEST_CASE("what cannot be read is unreadable, never a guess, and gives no warning") {
  const TemporaryDirectory empty;
  const Json facts = read_host_facts(empty.path());
  for (const char* key : {"hostname",
                          "kernel",
                          "os",
                          "cpu_model",
                          "vendor",
                          "packages",
                          "cores",
                          "hardware_threads",
                          "allowed_cpus",
                          "numa_nodes",
                          "memory_bytes",
                          "governor",
                          "turbo",
                          "thp",
                          "cpu_quota_cores",
                          "memory_limit_bytes",
                          "memlock_bytes",
                          "virtualization",
                          "product_serial",
                          "steal_share",
                          "clocksource",
                          "load_average"}) {
    INFO(key);
    CHECK(facts.at(key) == "unreadable");
  }
  CHECK(facts.at("warnings").empty());
}

TEST_CASE("damaged files are unreadable and do no harm") {
  FakeMachine machine;
  machine.write("proc/meminfo", "MemTotal: much kB\n");
  machine.write("proc/stat", "cpu  1 2 x\n");
  machine.write("proc/loadavg", "");
  machine.write("sys/devices/system/cpu/online", "7-0,,99999999999999999999\n");
  machine.write("sys/kernel/mm/transparent_hugepage/enabled", "]madvise[\n");
  machine.write("proc/self/cgroup", ":\n::\nx\n0::/job\n");
  machine.write("sys/fs/cgroup/job/cpu.max", "50000 0\n");
  const Json facts = machine.facts();
  for (const char* key :
       {"memory_bytes", "steal_share", "load_average", "hardware_threads", "cores", "thp"}) {
    INFO(key);
    CHECK(facts.at(key) == "unreadable");
  }
  CHECK(facts.at("cpu_quota_cores") == "none");
}

TEST_CASE("each harmful setting gives a warning with its value, its consequence and a remedy") {
  FakeMachine machine;
  SECTION("governor") {
    machine.write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
    CHECK(warning(machine, "governor is powersave").find("cpupower") != std::string::npos);
  }
  SECTION("one governor of several") {
    machine.write("sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "powersave\n");
    CHECK(machine.facts().at("governor") == "performance,powersave");
    CHECK(warning(machine, "performance,powersave") != "");
  }
  SECTION("transparent huge pages") {
    machine.write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    CHECK(warning(machine, "huge pages are off").find("echo madvise") != std::string::npos);
  }
  SECTION("CPU quota") {
    machine.write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    CHECK(machine.facts().at("cpu_quota_cores") == 2.5);
    CHECK(warning(machine, "CPU quota is 2.5 cores, but 8 CPUs") != "");
  }
  SECTION("memory limit") {
    machine.write("sys/fs/cgroup/job/memory.max", "4294967296\n");
    CHECK(warning(machine, "memory limit is 4 GiB of 16 GiB") != "");
  }
  SECTION("memory that the nodes do not have yet") {
    machine.write("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 4194304 kB\n");
    CHECK(warning(machine, "NUMA nodes hold 12 GiB of 16 GiB") != "");
  }
  SECTION("virtual machine") {
    machine.write("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n\n");
    CHECK(warning(machine, "this is a virtual machine (AS-1015)") != "");
    machine.remove("sys/class/dmi");
    CHECK(warning(machine, "this is a virtual machine: ") != "");
  }
  SECTION("steal") {
    machine.write("proc/stat", "cpu  1000 0 1000 7900 0 0 0 100 0 0\n");
    CHECK(warning(machine, "CPU steal has been 1.0 %") != "");
    machine.write("proc/stat", "cpu  1000 0 1000 7960 0 0 0 40 0 0\n");
    CHECK(warning(machine, "CPU steal") == "");
  }
  SECTION("locked memory") {
    machine.write("proc/self/limits", "Max locked memory  8388608  8388608  bytes\n");
    CHECK(warning(machine, "locked-memory limit is only 8 MiB").find("ulimit -l") !=
          std::string::npos);
  }
  SECTION("load of others, now and over the last minute") {
    machine.write("proc/loadavg", "6.00 1.00 1.00 7/200 4321\n");
    CHECK(warning(machine, "6 other processes are runnable on 8 CPUs") != "");
    // Work that has ended still shows in the average; our own ranks show at the moment.
    machine.write("proc/loadavg", "6.00 1.00 1.00 1/200 4321\n");
    CHECK(warning(machine, "other processes") == "");
  }
  SECTION("fewer CPUs than there are") {
    machine.write("proc/self/status", "Cpus_allowed_list:\t0-3\n");
    CHECK(warning(machine, "may use 4 of 8 CPUs") != "");
  }
  SECTION("clock source") {
    machine.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    CHECK(warning(machine, "clock source is hpet") != "");
  }
}

TEST_CASE("our own ranks are no load of others") {
  FakeMachine machine;
  machine.write("proc/loadavg", "8.00 1.00 1.00 8/200 4321\n");
  CHECK(machine.facts(1).at("others_running") == 7);
  CHECK(machine.facts(8).at("others_running") == 0);
  CHECK(machine.facts(8).at("warnings").empty());
}

TEST_CASE("the tightest limit of a control group and its parents counts") {
  FakeMachine machine;
  machine.write("proc/self/cgroup", "0::/slice/job/step\n");
  machine.write("sys/fs/cgroup/slice/cpu.max", "400000 100000\n");
  machine.write("sys/fs/cgroup/slice/job/cpu.max", "200000 100000\n");
  machine.write("sys/fs/cgroup/slice/job/step/cpu.max", "max 100000\n");
  machine.write("sys/fs/cgroup/slice/memory.max", "1073741824\n");
  const CgroupLimits limits = read_cgroup_limits(machine.files());
  CHECK(limits.cpu_cores == 2.0);
  CHECK(limits.memory_bytes == 1073741824);
}

TEST_CASE("an account of CPU time below zero is none") {
  FakeMachine machine;
  CHECK(read_cpu_account(machine.files()));
  machine.write("proc/stat", "cpu  1000 0 1000 8000 0 0 0 -5 5 0\n");
  CHECK_FALSE(read_cpu_account(machine.files()));
  machine.write("proc/loadavg", "0.10 0.20 0.30 -2147483648/200 4321\n");
  CHECK(machine.facts().at("others_running") == "unreadable");
}

TEST_CASE("a limit below zero is none") {
  FakeMachine machine;
  machine.write("sys/fs/cgroup/job/cpu.max", "-50000 100000\n");
  machine.write("sys/fs/cgroup/job/memory.max", "-1\n");
  const CgroupLimits limits = read_cgroup_limits(machine.files());
  CHECK_FALSE(limits.cpu_cores);
  CHECK_FALSE(limits.memory_bytes);
}

TEST_CASE("limits of control groups version 1 are read, and its way to say none") {
  FakeMachine machine;
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/box\n4:memory:/box\n1:name=systemd:/x\n");
  machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "150000\n");
  machine.write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
  machine.write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  CgroupLimits limits = read_cgroup_limits(machine.files());
  CHECK(limits.cpu_cores == 1.5);
  CHECK_FALSE(limits.memory_bytes);
  // In a container the group's path is the host's; its files lie at the mount.
  machine.write("proc/self/cgroup", "4:memory:/docker/0123\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n");
  limits = read_cgroup_limits(machine.files());
  CHECK(limits.memory_bytes == 1048576);
  CHECK_FALSE(limits.cpu_cores);
}

TEST_CASE("an Arm core is named by its numbers") {
  FakeMachine machine;
  machine.write("proc/cpuinfo",
                "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
                "CPU part\t: 0xd4f\nCPU revision\t: 0\n\n");
  Json facts = machine.facts();
  CHECK(facts.at("cpu_model") == "Neoverse-V2");
  CHECK(facts.at("virtualization") == "none");
  machine.write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  machine.write("proc/cpuinfo", "CPU implementer\t: 0x99\nCPU part\t: 0x001\n\n");
  facts = machine.facts();
  CHECK(facts.at("cpu_model") == "implementer 0x99 part 0x001");
  CHECK(facts.at("virtualization") == "virtual machine");
}

TEST_CASE("lists of the kernel are parsed or refused") {
  CHECK(parse_list("0-3,8") == std::vector<int>{0, 1, 2, 3, 8});
  CHECK(parse_list("7\n") == std::vector<int>{7});
  CHECK(parse_list("") == std::vector<int>{});
  for (const char* bad : {"3-1", "a", "1,,2", "-1", "1-", "0-99999999", "1 2"}) {
    INFO(bad);
    CHECK_FALSE(parse_list(bad));
  }
}

TEST_CASE("this machine's own facts can be read") {
  const Json facts = read_host_facts();
  CHECK(facts.at("hardware_threads").is_number());
  CHECK(facts.at("memory_bytes").is_number());
}
