#include "devices/part_of_host.h"

#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

struct Machine {
  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("part-of-host-" + std::to_string(getpid()));
  Machine() {
    std::filesystem::create_directories(root / "sys/class/net/eth0");
    std::filesystem::create_directories(root / "sys/class/net/lo");
    std::filesystem::create_directories(root / "sys/class/infiniband/mlx5_1/device/net/ib1");
    std::filesystem::create_directories(root / "sys/class/infiniband/mlx5_2");
  }
  ~Machine() { std::filesystem::remove_all(root); }
};

using Variables = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("one GPU of a host is chosen among those that the launcher left") {
  CHECK(only_visible("", 3) == "3");
  CHECK(only_visible("4,5,GPU-12ab", 2) == "GPU-12ab");
  CHECK_THROWS_WITH(only_visible("4,5", 2), Contains("no cuda:2") && Contains("4,5"));
}

TEST_CASE("several GPUs of a host are chosen in their order, by numbers that all are of one kind") {
  CHECK(only_visible("", std::vector{3, 5}) == "3,5");
  CHECK(only_visible("4,5,GPU-12ab", std::vector{2, 0}) == "GPU-12ab,4");
  CHECK_THROWS_WITH(only_visible("4,5", std::vector{0, 2}), Contains("no cuda:2"));
  CHECK(device_numbers("cuda:3,cuda:15", "cuda") == std::vector{3, 15});
  for (const char* bad : {"cuda:3,numa:1", "cuda:", "cuda", "cuda:-1", "cuda:1x", "3"}) {
    INFO(bad);
    CHECK(device_numbers(bad, "cuda").empty());
  }
}

TEST_CASE("a card has one name on all hosts, or one for each") {
  CHECK(card_of("mlx5_2", "n1") == "mlx5_2");
  CHECK(card_of("n1=eth0,n2=eth1", "n2") == "eth1");
  CHECK(card_of("n1=eth0,n2=eth1", "n1.cluster") == "eth0");
  CHECK_THROWS_WITH(card_of("n1=eth0,n2=eth1", "n11"), Contains("n11"));
}

TEST_CASE("MPI is kept to sockets of an interface, or to verbs of a card") {
  const Machine machine;
  const SystemFiles files(machine.root);
  CHECK(mpi_variables(files, "eth0") ==
        Variables{{"OMPI_MCA_btl_tcp_if_include", "eth0"}, {"UCX_NET_DEVICES", "eth0"}});
  CHECK(mpi_variables(files, "mlx5_1") == Variables{{"OMPI_MCA_btl_openib_if_include", "mlx5_1"},
                                                    {"OMPI_MCA_btl_tcp_if_include", "ib1"},
                                                    {"UCX_NET_DEVICES", "mlx5_1:1"}});
  CHECK_FALSE(mpi_variables(files, "mlx5_2").contains("OMPI_MCA_btl_tcp_if_include"));
}

TEST_CASE("a thread that is bound to a node keeps those of its CPUs that are the node's") {
  const Machine machine;
  const auto allowed = SystemFiles().text("proc/self/status").value_or("");
  const auto own = parse_list(field(allowed, "Cpus_allowed_list").value_or(""));
  REQUIRE(own);
  const auto node = machine.root / "sys/devices/system/node/node3";
  std::filesystem::create_directories(node);
  std::ofstream(node / "cpulist") << own->back() << ",60000\n";
  cpu_set_t mask;
  std::string missing, none;
  std::thread([&] {  // the affinity is the thread's
    bind_to_cpus_of_node(SystemFiles(machine.root), 3);
    sched_getaffinity(0, sizeof mask, &mask);
    try {
      bind_to_cpus_of_node(SystemFiles(machine.root), 4);
    } catch (const Error& error) {
      missing = error.what();
    }
    std::ofstream(node / "cpulist") << "60000\n";
    try {
      bind_to_cpus_of_node(SystemFiles(machine.root), 3);
    } catch (const Error& error) {
      none = error.what();
    }
  })
      .join();
  CHECK(CPU_COUNT(&mask) == 1);
  CHECK(CPU_ISSET(own->back(), &mask));
  CHECK_THAT(missing, Contains("no NUMA node 4"));
  CHECK_THAT(none, Contains("is available to this process"));
}

TEST_CASE("a card that a host does not have is an error with those it has") {
  const Machine machine;
  try {
    mpi_variables(SystemFiles(machine.root), "mlx5_9");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("'mlx5_9'"));
    CHECK(error.hint() == "available: mlx5_1, mlx5_2, eth0");
  }
}
