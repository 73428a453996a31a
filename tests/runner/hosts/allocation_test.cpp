#include "runner/hosts/allocation.h"

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("CPUs of nodes are counted out as Slurm writes them") {
  CHECK(expand_cpus_per_node("8", 1) == std::vector{8});
  CHECK(expand_cpus_per_node("8(x2),4", 3) == std::vector{8, 8, 4});
  CHECK(expand_cpus_per_node("1,96(x3)", 10) == std::vector{1, 96, 96, 96});
}

TEST_CASE("an invalid CPU list is refused before it is expanded") {
  for (const char* text : {"",
                           ",",
                           "8,",
                           ",8",
                           "8(x)",
                           "8(x0)",
                           "8(x2",
                           "8(2)",
                           "8(x2)4",
                           "8(x2)(x2)",
                           "(x2)",
                           "0",
                           "-1",
                           "+1",
                           " 8",
                           "8 ",
                           "8.5",
                           "0x8",
                           "8(x-1)",
                           "8(x99999999999999999999)",
                           "99999999999999999999",
                           "100001",
                           "8(x1e3)",
                           "8;reboot",
                           "8\n"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(expand_cpus_per_node(text, 100), Contains("not a CPU list"));
  }
  CHECK_THROWS_WITH(expand_cpus_per_node(std::string("8\0", 2), 100), Contains("not a CPU list"));
  CHECK_THROWS_WITH(expand_cpus_per_node("8(x101)", 100), Contains("invalid repeat count"));
  CHECK_THROWS_WITH(expand_cpus_per_node("8(x60),8(x60)", 100), Contains("more than 100 nodes"));
}

TEST_CASE("the current allocation comes from Slurm's variables, with its CPUs as slots") {
  const auto allocation = allocation_from({{"SLURM_JOB_ID", "17"},
                                           {"SLURM_JOB_NODELIST", "gpu[01-02],big"},
                                           {"SLURM_JOB_CPUS_PER_NODE", "8(x2),64"}});
  REQUIRE(allocation);
  CHECK(allocation->job == "17");
  CHECK(allocation->has("gpu02"));
  CHECK_FALSE(allocation->has("gpu03"));
  const Inventory inventory = inventory_of(*allocation);
  REQUIRE(inventory.hosts.size() == 3);
  CHECK(inventory.hosts[0].name == "gpu01");
  CHECK(inventory.hosts[0].slots == 8);
  CHECK(inventory.hosts[2].address == "big");
  CHECK(inventory.hosts[2].slots == 64);
}

TEST_CASE("outside of an allocation there is none") {
  CHECK_FALSE(allocation_from({}));
  CHECK_FALSE(allocation_from({{"SLURM_JOB_ID", ""}, {"SLURM_JOB_NODELIST", "n1"}}));
}

TEST_CASE("contradicting variables are an environment error with the reason") {
  const auto said = [](const std::string& job, const std::string& nodes, const std::string& cpus) {
    try {
      allocation_from({{"SLURM_JOB_ID", job},
                       {"SLURM_JOB_NODELIST", nodes},
                       {"SLURM_JOB_CPUS_PER_NODE", cpus}});
      return std::string("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::environment);
      return std::string(error.what());
    }
  };
  CHECK_THAT(said("17", "n[1-3]", "8(x2)"), Contains("3 nodes") && Contains("2"));
  CHECK_THAT(said("17", "n[1-3]", "8(x4)"), Contains("invalid repeat count"));
  CHECK_THAT(said("17", "n1,n1", "8(x2)"), Contains("n1 twice"));
  CHECK_THAT(said("17", "n[1-", "8"), Contains("position"));
  CHECK_THAT(said("17", "", ""), Contains("17"));
  CHECK_THAT(said("1;reboot", "n1", "8"), Contains("not a job ID"));
  CHECK_THAT(said("--help", "n1", "8"), Contains("not a job ID"));
}
