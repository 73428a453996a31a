#include "runner/doctor/advice.h"

#include <cstdlib>

#include "core/error.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "runner/doctor/other_work.h"
#include "runner/launch/program_output.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

HostSession answer(const std::string& host, const std::string& output) {
  return {host, {}, output, "", ""};
}

/// All is well there.
std::string well() {
  return "clock 1000\nrank bench-rank 1.0\nmpirun mpirun (Open MPI) 4.1.4\nssh yes\napt-get yes\n"
         "cpus 8\nmemlock unlimited\nfiles 65536\ngovernor performance\nhuge_pages always "
         "[madvise] "
         "never\nnuma_balancing 0\nnuma_nodes 2\ngpus 0\nsynchronised yes\nbusy 3.0 17 top\n";
}

HostState state(const std::string& more, const std::string& host = "node01") {
  // The first line of a name counts, so that `more` overrides.
  HostState found = state_from(answer(host, more + well()));
  found.asked_s = 999.0;
  found.answered_s = 1003.0;
  return found;
}

std::vector<Advice> advise(const std::vector<HostState>& hosts) {
  return advice_for(hosts, {"1.0", hosts.size() > 1, "hosts.json"});
}

/// "need check: found" of what is not in order.
std::vector<std::string> needs(const std::vector<HostState>& hosts) {
  std::vector<std::string> found;
  for (const Advice& one : advise(hosts))
    if (one.need != Need::none)
      found.push_back(std::string(to_string(one.need)) + " " + one.check + ": " + one.found);
  return found;
}

using Needs = std::vector<std::string>;

std::string command_of(const HostState& host, const std::string& check) {
  for (const Advice& one : advise({host}))
    if (one.check == check) return one.command;
  return "no such check";
}

}  // namespace

TEST_CASE("a host on which all is in order needs nothing") {
  CHECK(needs({state("")}).empty());
  CHECK(worst(advise({state("")})) == Need::none);
}

TEST_CASE("what is missing is named with the command that repairs it") {
  CHECK(needs({state("rank \n")}).empty());  // an empty line says nothing, the next one does
  HostState host = state("");
  host.facts.erase("rank");
  host.facts.erase("mpirun");
  CHECK(needs({host}) == Needs{"repair bench-rank: not found", "note MPI: mpirun is not in PATH"});
  CHECK(command_of(host, "MPI") == "sudo apt-get install openmpi-bin");
  host.facts.erase("apt-get");
  host.facts["dnf"] = "yes";
  CHECK(command_of(host, "MPI") == "sudo dnf install openmpi");
  CHECK_THAT(command_of(host, "bench-rank"), Contains("--stage"));
  host.here = true;
  CHECK(command_of(host, "bench-rank") == "scripts/build");
}

TEST_CASE("several hosts need MPI, of one version, and one bench-rank") {
  HostState without = state("", "node02");
  without.facts.erase("mpirun");
  CHECK(needs({state(""), without}) == Needs{"repair MPI: mpirun is not in PATH"});
  CHECK(needs({state(""), state("mpirun mpirun (Open MPI) 5.0.1\n", "node02")}) ==
        Needs{"repair MPI: mpirun (Open MPI) 4.1.4", "repair MPI: mpirun (Open MPI) 5.0.1"});
  CHECK(needs({state(""), state("rank bench-rank 0.9\n", "node02")}) ==
        Needs{"repair bench-rank: bench-rank 0.9, but benchctl is 1.0"});
}

TEST_CASE("equal advice for several hosts is one entry") {
  const auto advice =
      advise({state("governor powersave\n"), state("governor powersave\n", "node02")});
  const auto found = std::ranges::find(advice, Need::note, &Advice::need);
  REQUIRE(found != advice.end());
  CHECK(found->hosts == std::vector<std::string>{"node01", "node02"});
  CHECK(std::ranges::count(advice, Need::note, &Advice::need) == 1);
}

TEST_CASE("the smallest quota of nested cgroups counts, unless it is more than the CPUs") {
  CHECK(needs({state("quota 800000 100000 /a/b\nquota 50000 100000 /a\n")}) ==
        Needs{"repair CPU quota: 0.5 CPUs of 8 in cgroup /a"});
  CHECK(command_of(state("quota 50000 100000 /a\n"), "CPU quota") ==
        "echo max | sudo tee '/sys/fs/cgroup/a/cpu.max'");
  CHECK(needs({state("quota 800000 100000 /a\n")}).empty());
  CHECK(needs({state("quota what 0 /a\n")}).empty());
}

TEST_CASE("a process that uses a CPU is named with its pid") {
  CHECK(needs({state("busy 98.0 4948 python3\nbusy 4.0 12 sshd\n")}) ==
        Needs{"repair other work: python3 (pid 4948) uses 1.0 CPUs"});
}

TEST_CASE("hosts with the same other work are named together, and small work is none") {
  const auto busy = [](const std::string& host, const std::string& lines) {
    return state(lines, host);
  };
  CHECK(other_work_on(std::vector{busy("node01", "busy 98.0 7 python3\n"),
                                  busy("node02", "busy 98.0 7 python3\n"),
                                  busy("node03", "busy 9.0 8 sshd\n"),
                                  busy("node04", "busy 50.0 9 dd\nbusy 20.0 10 cp\n")}) ==
        Needs{"node[01-02]: python3 (pid 7) uses 1.0 CPUs",
              "node04: dd (pid 9) uses 0.5 CPUs, cp (pid 10) uses 0.2 CPUs"});
}

TEST_CASE("a clock counts as wrong only beyond the time that asking took") {
  CHECK(needs({state("clock 1004\n")}).empty());
  CHECK(needs({state("clock 1008\n")}) == Needs{"repair clock: 5 s ahead of this host's"});
  CHECK(needs({state("clock 900\n")}) == Needs{"repair clock: 99 s behind this host's"});
}

TEST_CASE("GPUs need a driver and the program that measures them") {
  CHECK(needs({state("gpus 8\n")}) == Needs{"repair GPU: 8 NVIDIA GPUs, no driver loaded"});
  CHECK(needs({state("gpus 1\ndriver 580.1\n")}) ==
        Needs{"repair GPU: 1 NVIDIA GPU, no bench-rank-cuda"});
  CHECK(needs({state("gpus 1\ndriver 580.1\nrank_cuda bench-rank 1.0\n")}).empty());
}

TEST_CASE("locked memory matters where there is RDMA") {
  CHECK(needs({state("memlock 8192\n")}).empty());
  CHECK(needs({state("memlock 8192\ninfiniband yes\n")}) ==
        Needs{"repair locked memory: limit of 8 MiB"});
}

TEST_CASE("a host that does not answer is one thing to repair") {
  HostState silent;
  silent.host = "node03";
  silent.trouble = "exit code 255: no route to host";
  CHECK(needs({state(""), silent}) == Needs{"repair answer: exit code 255: no route to host"});
}

TEST_CASE("the script of the doctor runs in a POSIX shell and changes nothing") {
  const std::string output =
      program_output(doctor_command("/no/such/bench-rank", false), Seconds{30.0});
  const HostState here = state_from(answer("here", output));
  CHECK(here.fact("rank") == "");
  CHECK(here.number("cpus") > 0.0);
  CHECK(here.number("clock") > 1.6e9);
  CHECK(here.number("gpus").has_value());
  // What a remote shell gets is one word a word.
  for (const std::string& word : doctor_command("it's", true)) CHECK(word.starts_with("'"));
  CHECK(doctor_command("x", true)[2].find_first_of("\n\\!") == std::string::npos);
}

namespace {

void write_program(const std::filesystem::path& path, const std::string& script) {
  write_file(path, "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("another host is asked through the agent, for the bench-rank of the hosts file") {
  const TemporaryDirectory folder;
  const std::string agent = folder.path() / "agent", rank = folder.path() / "other-rank";
  // As ssh: the address, then words that a shell on the host parses.
  write_program(agent, "shift; exec sh -c \"$*\"");
  write_program(rank, "echo bench-rank 9.9");
  const Inventory inventory =
      inventory_from_json({{"hosts", {{{"name", "elsewhere"}, {"slots", 1}}}},
                           {"mpirun", {{"agent", {agent}}, {"rank_program", rank}}}},
                          "test");
  const Interrupts interrupts;
  const auto states = ask_hosts(inventory, interrupts);
  REQUIRE(states.size() == 1);
  INFO(states[0].trouble);
  CHECK_FALSE(states[0].here);
  CHECK(states[0].fact("rank") == "bench-rank 9.9");
  CHECK(ask_hosts(inventory, interrupts, "/no/such/program")[0].fact("rank") == "");
}

TEST_CASE("Ctrl-C while hosts are asked ends the command instead of measuring anyway") {
  const Interrupts interrupts;
  interrupts.raise();
  CHECK_THROWS_AS(ask_hosts(this_host_only(), interrupts), Error);
  try {
    ask_hosts(this_host_only(), interrupts);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::interrupted);
  }
}
