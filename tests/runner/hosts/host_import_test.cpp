#include "runner/hosts/host_import.h"

#include "core/error.h"
#include "runner/hosts/inventory.h"
#include "runner/hosts/slurm_nodes.h"
#include "runner/launch/program_output.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json hostfile(const std::string& text) { return import_hostfile(text, "hf").hosts["hosts"]; }

/// A node as `scontrol show nodes --oneliner` of Slurm 22.05 prints it.
std::string node(const std::string& name, const std::string& state,
                 const std::string& partitions = "all", const std::string& address = "") {
  return "NodeName=" + name +
         " Arch=x86_64 CoresPerSocket=8 CPUAlloc=0 CPUEfctv=16 CPUTot=16 CPULoad=0.31 "
         "AvailableFeatures=ib,old ActiveFeatures=ib Gres=gpu:h100:8(S:0-1),nvme:2 NodeAddr=" +
         (address.empty() ? name : address) + " NodeHostName=" + name +
         " Version=22.05.8 OS=Linux 6.1.0 #1 SMP RealMemory=1 Sockets=2 Boards=1 State=" + state +
         " ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=" + partitions +
         " BootTime=None Comment=State=IDLE NodeName=x Reason=broken fan [root@2026-11-20T10:00]\n";
}

Json slurm(const std::string& text, const SlurmChoice& choice = {}) {
  return import_slurm(text, "sc", choice).hosts["hosts"];
}

}  // namespace

TEST_CASE("an OpenMPI hostfile becomes few entries") {
  CHECK(hostfile(
            "# nodes\n\nnode01 slots=4 max_slots=8 # one\r\n  node02\tslots = 4\nnode03 cpu=2") ==
        Json::parse(R"([{"name": "node[01-02]", "slots": 4}, {"name": "node03", "slots": 2}])"));
}

// What mpirun 4.1.4 --display-allocation says of the same lines.
TEST_CASE("further mentions of a host add slots, and two counts are refused, as OpenMPI has it") {
  CHECK(hostfile("a\na")[0]["slots"] == 2);
  CHECK(hostfile("a slots=2\na")[0]["slots"] == 3);
  CHECK(hostfile("a max_slots=4")[0]["slots"] == 4);
  CHECK_THROWS_WITH(hostfile("a slots=2\na slots=3"), Contains("hf: line 2") && Contains("twice"));
  CHECK_THROWS_WITH(hostfile("a slots=1 slots=2"), Contains("line 1") && Contains("twice"));
  CHECK_THROWS_WITH(hostfile("a slots=4 max_slots=2"), Contains("max_slots=2 is below 4"));
}

TEST_CASE("missing slots use the default, with a note") {
  const auto imported = import_hostfile("n1\nn2\nn3 slots=2", "hf", 8);
  CHECK(imported.hosts["hosts"][0]["slots"] == 8);
  REQUIRE(imported.notes.size() == 1);
  CHECK_THAT(imported.notes[0], Contains("8: n[1-2]"));
}

TEST_CASE("an expression too long for one entry is split into several") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "n" + std::to_string(i * 7) + " slots=2\n";
  const Json file = import_hostfile(text, "hf").hosts;
  CHECK(file["hosts"].size() > 1);
  CHECK(inventory_from_json(file, "h").hosts.size() == 3000);
}

TEST_CASE("a user of a hostfile is part of the address") {
  CHECK(hostfile("bench@n1 slots=2\nbench@n2 slots=2") ==
        Json::parse(R"([{"name": "n[1-2]", "slots": 2, "address": "bench@{name}"}])"));
  CHECK_THROWS_WITH(hostfile("a@n1\nb@n1"), Contains("line 2") && Contains("a@n1"));
}

TEST_CASE("a hostile hostfile is refused, naming the line") {
  for (const std::string text :
       {"-oProxyCommand=x", "^n1", "\"n1\"", "n1;id", "n[1-3]", "n1,n2", "n1 slots",
        "n1 slots=", "n1 slots=-1", "n1 slots=4x", "n1 slots=0", "n1 slots=99999999999",
        "n1 slts=4", "n1 = =", "@", "a@", "a@-b"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(hostfile("ok slots=1\n" + text), Contains("hf: line 2: "));
  }
  CHECK_THROWS_WITH(hostfile("n1 slts=4"), Contains("Did you mean 'slots'?"));
  CHECK_THROWS_WITH(hostfile("a;b@n1"), Contains("/address"));
  CHECK_THROWS_WITH(hostfile("# none\n"), Contains("no host"));
}

TEST_CASE("Slurm's nodes become hosts with slots, addresses and labels") {
  CHECK(slurm(node("n1", "IDLE", "gpu,all") + node("n2", "MIXED+PLANNED", "gpu,all") +
              node("n3", "ALLOCATED", "all", "n3-ib")) == Json::parse(R"([
    {"name": "n[1-2]", "slots": 16,
     "labels": {"features": "ib", "gres": "gpu:h100:8,nvme:2", "partitions": "gpu,all"}},
    {"name": "n3", "slots": 16, "address": "{name}-ib",
     "labels": {"features": "ib", "gres": "gpu:h100:8,nvme:2", "partitions": "all"}}])"));
  const Json bare = slurm("NodeName=a CPUTot=2 Gres=(null) State=IDLE\n");
  CHECK(bare == Json::parse(R"([{"name": "a", "slots": 2}])"));
}

TEST_CASE("output of Slurm 22.05 is parsed; text of a reason is not taken for a state") {
  const auto imported =
      import_slurm(read_file("docs/examples/scontrol.txt"), "sc", {.partition = "gpu"});
  const Inventory inventory = inventory_from_json(imported.hosts, "h");
  REQUIRE(inventory.hosts.size() == 3);
  CHECK(inventory.hosts[1].name == "rack1-node03");
  CHECK(inventory.hosts[1].address == "10.0.1.3");
  CHECK(inventory.hosts[1].labels.at("gres") == "gpu:h100:8");
  CHECK(imported.notes ==
        std::vector<std::string>{"skipped nodes in state 'IDLE+DRAIN': rack1-node02"});
}

TEST_CASE("unusable nodes are skipped with a note, or kept with --all") {
  std::string text = node("n1", "IDLE");
  for (const char* state :
       {"DOWN", "IDLE+DRAIN", "DOWN*", "IDLE*", "MIXED+DRAIN", "IDLE+CLOUD+POWERED_DOWN",
        "ALLOCATED+FAIL", "UNKNOWN*", "DOWN+NOT_RESPONDING", "FUTURE", "IDLE+MAINT",
        "IDLE+MAINTENANCE+RESERVED", ""})
    text += node("x" + std::to_string(text.size()), state);
  const auto imported = import_slurm(text, "sc", {});
  CHECK(inventory_from_json(imported.hosts, "h").hosts.size() == 1);
  CHECK(imported.notes.size() == 13);
  CHECK_THAT(imported.notes[1], Contains("'ALLOCATED+FAIL'") && Contains("x"));
  CHECK(inventory_from_json(import_slurm(text, "sc", {.partition = "", .all = true}).hosts, "h")
            .hosts.size() == 14);
}

TEST_CASE("a partition chooses its nodes, and an unknown one is refused with the nearest name") {
  const std::string text = node("n1", "IDLE", "gpu,all") + node("n2", "IDLE", "all");
  CHECK(slurm(text, {.partition = "gpu"}).size() == 1);
  CHECK(slurm(text, {.partition = "gpu"})[0]["name"] == "n1");
  CHECK_THROWS_WITH(slurm(text, {.partition = "gpus"}), Contains("Did you mean 'gpu'?"));
}

TEST_CASE("a hostile list of nodes is refused, naming the line") {
  for (const std::string text :
       {"slurm_load_node error", "NodeName=-oX CPUTot=2 State=IDLE", "NodeName= CPUTot=2",
        "NodeName=n[1-2] CPUTot=2 State=IDLE", "NodeName=a State=IDLE", "NodeName=a CPUTot=x",
        "NodeName=a CPUTot=0 State=IDLE", "NodeName=a;id CPUTot=2 State=IDLE"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(slurm(node("n1", "IDLE") + text), Contains("sc: line 2: "));
  }
  CHECK_THROWS_WITH(slurm("NodeName=a NodeAddr=-oX CPUTot=2 State=IDLE"), Contains("/address"));
  CHECK_THROWS_WITH(slurm(node("n1", "IDLE") + node("n1", "IDLE", "b")),
                    Contains("'n1'") && Contains("twice"));
  CHECK_THROWS_WITH(slurm(""), Contains("no usable nodes"));
  CHECK_THROWS_WITH(slurm(node("n1", "DOWN")), Contains("no usable nodes"));
}

TEST_CASE("a program's output is read completely; failures and hangs are errors with its output") {
  CHECK(program_output({"/bin/echo", "a b;$(c)"}, Seconds{30.0}) == "a b;$(c)\n");
  CHECK(program_output({"/usr/bin/head", "-c", "1000000", "/dev/zero"}, Seconds{30.0}).size() ==
        1'000'000);
  CHECK_THROWS_WITH(program_output({"/bin/ls", "/nowhere-at-all"}, Seconds{30.0}),
                    Contains("exit code 2") && Contains("nowhere-at-all"));
  CHECK_THROWS_WITH(program_output({"/bin/sleep", "60"}, Seconds{0.05}),
                    Contains("/bin/sleep 60") && Contains("killed"));
  CHECK_THROWS_WITH(program_output({"/bin/cat", "/dev/zero"}, Seconds{30.0}, 1000),
                    Contains("more than 1000 bytes"));
  CHECK_THROWS_WITH(program_output({"no-such-program-here"}, Seconds{1.0}), Contains("PATH"));
}
