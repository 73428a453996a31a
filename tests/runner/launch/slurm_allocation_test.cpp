#include "runner/launch/slurm_allocation.h"

#include "core/error.h"
#include "core/text.h"
#include "runner/hosts/inventory.h"
#include "runner/hosts/slurm_nodes.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("salloc grants a job at once, or after it was pending") {
  CHECK(parse_salloc("salloc: Granted job allocation 7\n") == SallocOutput{"", "7", ""});
  CHECK(parse_salloc("salloc: Required node not available (down, drained or reserved)\n"
                     "salloc: Pending job allocation 8\n"
                     "salloc: job 8 queued and waiting for resources\n"
                     "salloc: job 8 has been allocated resources\n"
                     "salloc: Granted job allocation 8\n"
                     "salloc: Waiting for resource configuration\n") == SallocOutput{"8", "8", ""});
  CHECK(parse_salloc("Welcome!\r\nsalloc: Granted job allocation 7\r\n").granted == "7");
}

TEST_CASE("an incomplete line is not parsed") {
  CHECK(parse_salloc("salloc: Granted job allocation 7") == SallocOutput{});
  CHECK(parse_salloc("salloc: Pending job allocation 12\nsalloc: Granted job alloc").granted == "");
}

TEST_CASE("a refused allocation is reported with salloc's first error") {
  const auto output = parse_salloc(
      "salloc: error: invalid partition specified: nope\n"
      "salloc: error: Job submit/allocate failed: Invalid partition name specified\n");
  CHECK(output.error == "invalid partition specified: nope");
  CHECK(output.granted.empty());
}

TEST_CASE("similar text is not taken for a granted job") {
  for (const char* text :
       {"", "\n\n\n", "salloc: Granted job allocation \n", "salloc: Granted job allocation 7x\n",
        "salloc: Granted job allocation -7\n", "salloc: Granted job allocation 7;reboot\n",
        "salloc: Granted job allocation  7\n", "Granted job allocation 7\n",
        "x salloc: Granted job allocation 7\n", "salloc: error: Granted job allocation 7\n",
        "salloc: Granted job allocation 1234567890123456789\n",
        "salloc: Granted job allocation \xff\n"}) {
    CAPTURE(text);
    CHECK(parse_salloc(text).granted.empty());
  }
  CHECK_THAT(parse_salloc("salloc: error: \x1b[31m\n").error, !Contains("\x1b"));
}

TEST_CASE("an allocation is of whole nodes, named, that outlives a node, and is held by cat") {
  const std::string bare = join(salloc_command({"n1", "n2", "n3"}, {}, "benchctl-x"), " ");
  CHECK(bare ==
        "salloc --job-name=benchctl-x --nodes=3 --nodelist=n[1-3] --no-kill --wait-all-nodes=1 "
        "--exclusive --mem=0 sh -c echo ready; exec cat");
  SlurmSettings settings;
  settings.partition = "gpu";
  settings.account = "ops";
  settings.reservation = "accept";
  settings.time_limit = "2:00:00";
  settings.gres = "gpu:8";
  settings.exclusive = false;
  settings.allocation_args = {"--constraint=h100"};
  CHECK(join(salloc_command({"n1"}, settings, "x"), " ") ==
        "salloc --job-name=x --nodes=1 --nodelist=n1 --no-kill --wait-all-nodes=1 --partition=gpu "
        "--account=ops "
        "--reservation=accept --time=2:00:00 --gres=gpu:8 --constraint=h100 sh -c echo ready; exec "
        "cat");
}

TEST_CASE("unusable nodes are found by their states") {
  const auto down = unusable_slurm_nodes(
      "NodeName=n1 Arch=x86_64 CPUTot=2 State=IDLE Reason=State=DOWN\n"
      "NodeName=n2 CPUTot=2 State=IDLE+DRAIN Reason=bad dimm\n"
      "NodeName=n3 CPUTot=2 State=ALLOCATED\n"
      "NodeName=n4 CPUTot=2 State=DOWN*\n"
      "NodeName=n5 CPUTot=2\n"
      "State=DOWN\n\nnoise");
  CHECK(down ==
        std::map<std::string, std::string>{{"n2", "IDLE+DRAIN"}, {"n4", "DOWN*"}, {"n5", ""}});
  CHECK(unusable_slurm_nodes("").empty());
}

namespace {

SlurmSettings with_slurm(const Json& settings) {
  const Json host = {{"name", "a"}, {"slots", 1}};
  return inventory_from_json({{"hosts", {host}}, {"slurm", settings}}, "h.json").slurm;
}

}  // namespace

TEST_CASE("Slurm's settings are read, and written so that they are read again") {
  const SlurmSettings settings = with_slurm({{"partition", "gpu,debug"},
                                             {"time_limit", "1-12:30"},
                                             {"exclusive", false},
                                             {"gres", "gpu:h100:8"},
                                             {"container_image", "nvcr.io#nvidia/pytorch:24.01"},
                                             {"container_mounts", {"/lustre:/lustre:ro"}},
                                             {"args", {"--network=sharp"}},
                                             {"allocation_args", {"--constraint=a&b"}}});
  CHECK(settings.partition == "gpu,debug");
  CHECK(settings.mpi == "pmix");
  CHECK(settings.wait_s == 300);
  CHECK(with_slurm(to_json(settings)) == settings);
  CHECK(with_slurm(Json::object()) == SlurmSettings{});
}

TEST_CASE("arguments that could be the program or override our options are refused") {
  for (const char* word : {"hostname", "-p", "-", "--", "--x y", "--X", "--a=b\n", ""}) {
    CAPTURE(word);
    CHECK_THROWS_WITH(with_slurm({{"args", {word}}}), Contains("/slurm/args/0"));
    CHECK_THROWS_WITH(with_slurm({{"allocation_args", {word}}}), Contains("/allocation_args/0"));
  }
  for (const char* word : {"--label", "--jobid=1", "--output=x", "--pty", "--nodelist=n7"}) {
    CAPTURE(word);
    CHECK_THROWS_WITH(with_slurm({{"args", {"--verbose", word}}}),
                      Contains("/slurm/args/1") && Contains("is set by benchctl"));
  }
  // getopt_long() takes any unambiguous beginning of a name.
  for (const char* word :
       {"--ntas", "--ntasks=4", "--nt=4", "--nodel=n7", "--outp=x", "--expor=NONE",
        "--container-i=x", "--arr=1-9", "--wrap=id", "--nodef=x"}) {
    CAPTURE(word);
    for (const char* list : {"args", "allocation_args"})
      CHECK_THROWS_WITH(with_slurm({{list, {word}}}), Contains("is set by benchctl"));
  }
  CHECK_NOTHROW(with_slurm({{"args", {"--network=sharp", "--container=x", "--time-min=5"}}}));
  CHECK_THROWS_WITH(with_slurm({{"partition", "a b"}}), Contains("/slurm/partition"));
  CHECK_THROWS_WITH(with_slurm({{"time_limit", "soon"}}), Contains("/slurm/time_limit"));
  CHECK_THROWS_WITH(with_slurm({{"container_mounts", {"/a,/b"}}}), Contains("container_mounts/0"));
}
