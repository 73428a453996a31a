// How NCCL is told over which paths to join the ranks. It has no call for that: it reads variables
// of its environment, most of them once in a process.
#pragma once

#include <map>
#include <string>

#include "probes/device/collective_paths.h"
#include "probes/facts/system_files.h"

namespace bench {

/// What carries a network card's data: verbs, or sockets of an interface.
enum class CardKind { unknown, rdma, interface };

/// By the card's name: rdma where it stands under /sys/class/infiniband, interface under
/// /sys/class/net.
CardKind card_kind(const SystemFiles& files, const std::string& name);

/// The variables, all known to NCCL 2.20 but NCCL_MNNVL_ENABLE (2.21), and why each:
///   nvlink   NCCL_P2P_LEVEL=NVL        direct access at NVLink distance only, never over PCIe
///            NCCL_SHM_DISABLE=1        nor through the host's memory
///            NCCL_NET_DISABLE_INTRA=1  nor over network cards inside a host
///   network  NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1  leave the network alone, inside a host too
///            NCCL_NVLS_ENABLE=0, NCCL_MNNVL_ENABLE=0 no reduction in the NVLink switch, no NVLink
///                                                    between hosts
///            NCCL_PXN_DISABLE=1        each GPU uses cards itself, not another GPU's over NVLink
///   a card   rdma: NCCL_NET=IB and NCCL_IB_HCA==NAME (the second "=" asks for the exact name; the
///            first keeps NCCL from going over to sockets in silence);
///            interface: NCCL_NET=Socket and NCCL_SOCKET_IFNAME==NAME
std::map<std::string, std::string> nccl_environment(const PathRequest& paths, CardKind card);

/// Why these paths cannot be asked for in this process; "" when they can. `joined` is what its
/// first communicator was asked for, null before that; `card` of the request's card.
std::string nccl_path_obstacle(const PathRequest& asked, CardKind card, const PathRequest* joined);

}  // namespace bench
