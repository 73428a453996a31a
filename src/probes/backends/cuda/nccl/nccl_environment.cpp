#include "probes/backends/cuda/nccl/nccl_environment.h"

namespace bench {

CardKind card_kind(const SystemFiles& files, const std::string& name) {
  if (name.empty()) return CardKind::unknown;
  if (files.exists("sys/class/infiniband/" + name)) return CardKind::rdma;
  if (files.exists("sys/class/net/" + name)) return CardKind::interface;
  return CardKind::unknown;
}

std::map<std::string, std::string> nccl_environment(const PathRequest& paths, CardKind card) {
  std::map<std::string, std::string> variables;
  if (paths.isolation == Isolation::nvlink)
    variables = {
        {"NCCL_P2P_LEVEL", "NVL"}, {"NCCL_SHM_DISABLE", "1"}, {"NCCL_NET_DISABLE_INTRA", "1"}};
  if (paths.isolation == Isolation::network)
    variables = {{"NCCL_P2P_DISABLE", "1"},
                 {"NCCL_SHM_DISABLE", "1"},
                 {"NCCL_NVLS_ENABLE", "0"},
                 {"NCCL_MNNVL_ENABLE", "0"},
                 {"NCCL_PXN_DISABLE", "1"}};
  if (card == CardKind::rdma) {
    variables["NCCL_NET"] = "IB";
    variables["NCCL_IB_HCA"] = "=" + paths.network_card;
  }
  if (card == CardKind::interface) {
    variables["NCCL_NET"] = "Socket";
    variables["NCCL_SOCKET_IFNAME"] = "=" + paths.network_card;
  }
  return variables;
}

std::string nccl_path_obstacle(const PathRequest& asked, CardKind card, const PathRequest* joined) {
  if (joined != nullptr && !(*joined == asked))
    return "NCCL reads its transport settings once per process, and this process already used others";
  if (!asked.network_card.empty() && card == CardKind::unknown)
    return "this host has no NIC '" + asked.network_card +
           "' under /sys/class/infiniband or /sys/class/net";
  if (asked.isolation == Isolation::nvlink && !asked.network_card.empty())
    return "network_card has no effect with isolation nvlink";
  return "";
}

}  // namespace bench
