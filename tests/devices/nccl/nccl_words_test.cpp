#include "core/error.h"
#include "devices/nccl/nccl_environment.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

std::optional<CollectiveChoice> choice(const std::string& words) {
  return tuning_choice("node7:1202:1202 [0] NCCL INFO " + words);
}

UsedPaths paths(const std::vector<std::string>& lines) {
  UsedPaths used;
  for (const std::string& line : lines) note_paths("node7:1202:1231 [3] NCCL INFO " + line, used);
  return used;
}

TEST_CASE("NCCL 2.24 and later name algorithm, protocol and channels of an operation") {
  const auto ring = choice("AllReduce: 4 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..23}");
  REQUIRE(ring);
  CHECK(ring->algorithm == "RING");
  CHECK(ring->protocol == "LL128");
  CHECK(ring->channels == 24);
  CHECK(choice("AllReduce: 8 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={2..2}")
            ->channels == 1);
}

TEST_CASE("NCCL 2.20 to 2.23 write numbers, which count as its nccl_common.h does") {
  const auto ring = choice("8589934592 Bytes -> Algo 1 proto 2 time 86069.968750");
  REQUIRE(ring);
  CHECK(ring->algorithm == "RING");
  CHECK(ring->protocol == "SIMPLE");
  CHECK_FALSE(ring->channels);
  const auto tree = choice("AllReduce: 4 Bytes -> Algo 0 proto 0 time 9.600000");
  CHECK((tree->algorithm == "TREE" && tree->protocol == "LL"));
  CHECK(choice("4 Bytes -> Algo 5 proto 2 time 1.0")->algorithm == "NVLS_TREE");
  CHECK_FALSE(choice("4 Bytes -> Algo 7 proto 2 time 1.0"));
  CHECK_FALSE(choice("4 Bytes -> Algo -1 proto 2 time 1.0"));
}

TEST_CASE("kernels on symmetric memory and copy engines are recognised too") {
  const auto kernel = choice(
      "AllReduce [Symmetric]: 64 Bytes -> Kernel AllReduce_RSxLDMC_AGxSTMC nchannels 8 nthreads "
      "512 "
      "nWorks 1");
  REQUIRE(kernel);
  CHECK(kernel->algorithm == "SYMMETRIC AllReduce_RSxLDMC_AGxSTMC");
  CHECK(kernel->protocol.empty());
  CHECK(kernel->channels == 8);
  CHECK(choice("AllGather [Copy Engine]: 64 Bytes -> cudaMemcpyBatchAsync")->algorithm ==
        "COPY_ENGINE");
}

TEST_CASE("other and broken lines tell nothing") {
  for (const char* line :
       {"", "Algo RING proto LL", "4 Bytes -> ", "4 Bytes -> Algo ", "4 Bytes -> Algo RING",
        "4 Bytes -> Kernel ", "NCCL version 2.28.9+cuda13.0",
        "   AllReduce |     7.0/   2.4 |     9.6/   7.9 |", "Connected all rings"})
    CHECK_FALSE(tuning_choice(line));
  const auto broken = choice("4 Bytes -> Algo RING proto LL channel{Lo..Hi}={9..2}");
  CHECK((broken && !broken->channels));
}

TEST_CASE("what ranks were joined over is in the lines of their channels") {
  const UsedPaths used =
      paths({"Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
             "Channel 00 : 1[1] -> 2[2] via SHM/direct/direct",
             "Channel 08/0 : 1[1] -> 8[0] [receive] via NET/IB/0/GDRDMA",
             "Channel 00/0 : 3[3] -> 8[0] [send] via NET/Socket/0",
             "CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA", "Connected NVLS tree",
             "Connected all rings", "Trees [0] 1/-1/-1->0->-1"});
  CHECK(used.transports ==
        std::set<std::string>{"P2P", "SHM", "NET/IB", "NET/Socket", "COLLNET", "NVLS"});
  CHECK(used.network_cards.empty());
}

TEST_CASE("the cards NCCL is ready to use are named in one line") {
  CHECK(
      paths({"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_bond_0:1/RoCE [RO]; OOB ens22f0:10.1.15.1<0>"})
          .network_cards == std::set<std::string>{"mlx5_0", "mlx5_bond_0"});
  CHECK(paths({"NET/Socket : Using [0]eth0:10.0.0.7<0> [1]eth1:fe80::1%eth1<0>"}).network_cards ==
        std::set<std::string>{"eth0", "eth1"});
  CHECK(paths({"NET/IB : No device found.", "NET/IB : Using [0", "NET/IB : Using [x]y"})
            .network_cards.empty());
}

TEST_CASE("paths that were used against the wish are named") {
  const PathRequest nvlink{Isolation::nvlink, ""};
  CHECK(path_violation(nvlink, {{"P2P", "NVLS"}, {}}).empty());
  CHECK(path_violation(nvlink, {{"P2P", "NET/IB"}, {"mlx5_0"}}) ==
        "requested nvlink only, but NET/IB was used");
  const PathRequest card{Isolation::network, "mlx5_1"};
  CHECK(path_violation(card, {{"NET/IB"}, {"mlx5_1"}}).empty());
  CHECK(path_violation(card, {{"NET/IB"}, {"mlx5_0", "mlx5_1"}}) ==
        "requested NIC mlx5_1 only, but mlx5_0 was used");
  CHECK(path_violation(card, {{"P2P"}, {}}) == "requested network only, but P2P was used");
  CHECK(path_violation({}, {{"P2P", "SHM", "NET/Socket"}, {"eth0"}}).empty());
  CHECK(path_violation(card, {}).empty());  // nothing is known
}

TEST_CASE("each wish has its variables, and a card is named exactly") {
  CHECK(nccl_environment({}, CardKind::unknown).empty());
  const auto nvlink = nccl_environment({Isolation::nvlink, ""}, CardKind::unknown);
  CHECK(nvlink == std::map<std::string, std::string>{{"NCCL_P2P_LEVEL", "NVL"},
                                                     {"NCCL_SHM_DISABLE", "1"},
                                                     {"NCCL_NET_DISABLE_INTRA", "1"}});
  const auto rail = nccl_environment({Isolation::network, "mlx5_3"}, CardKind::rdma);
  CHECK(rail.at("NCCL_P2P_DISABLE") == "1");
  CHECK(rail.at("NCCL_NVLS_ENABLE") == "0");
  CHECK(rail.at("NCCL_PXN_DISABLE") == "1");
  CHECK(rail.at("NCCL_NET") == "IB");
  CHECK(rail.at("NCCL_IB_HCA") == "=mlx5_3");
  CHECK_FALSE(rail.contains("NCCL_SOCKET_IFNAME"));
  const auto socket = nccl_environment({Isolation::none, "eth0"}, CardKind::interface);
  CHECK(socket.at("NCCL_NET") == "Socket");
  CHECK(socket.at("NCCL_SOCKET_IFNAME") == "=eth0");
}

TEST_CASE("wishes that cannot be met here are refused before NCCL is asked") {
  const PathRequest card{Isolation::network, "mlx5_0"};
  const PathRequest other{Isolation::network, "mlx5_1"};
  CHECK(nccl_path_obstacle(card, CardKind::rdma, nullptr).empty());
  CHECK(nccl_path_obstacle(card, CardKind::rdma, &card).empty());
  CHECK(nccl_path_obstacle(other, CardKind::rdma, &card).find("once per process") !=
        std::string::npos);
  CHECK(nccl_path_obstacle(card, CardKind::unknown, nullptr).find("no NIC 'mlx5_0'") !=
        std::string::npos);
  CHECK_FALSE(
      nccl_path_obstacle({Isolation::nvlink, "eth0"}, CardKind::interface, nullptr).empty());
}

TEST_CASE("a card is looked up in the kernel's classes") {
  const TemporaryDirectory root;
  std::filesystem::create_directories(root.path() / "sys/class/infiniband/mlx5_0");
  std::filesystem::create_directories(root.path() / "sys/class/net/eth0");
  const SystemFiles files(root.path());
  CHECK(card_kind(files, "mlx5_0") == CardKind::rdma);
  CHECK(card_kind(files, "eth0") == CardKind::interface);
  CHECK(card_kind(files, "eth1") == CardKind::unknown);
  CHECK(card_kind(files, "") == CardKind::unknown);
}

TEST_CASE("paths of several ranks are put together through JSON") {
  UsedPaths all{{"P2P"}, {}};
  all.merge(used_paths_from_json(to_json(UsedPaths{{"NET/IB"}, {"mlx5_0"}})));
  CHECK(to_json(all) == Json{{"transports", {"NET/IB", "P2P"}}, {"network_cards", {"mlx5_0"}}});
  CHECK(isolation_from("network") == Isolation::network);
  CHECK_THROWS_AS(isolation_from("pcie"), Error);
}

}  // namespace
}  // namespace bench
