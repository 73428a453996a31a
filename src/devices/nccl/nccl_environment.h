// Selects the paths of NCCL communicators. There is no API for that: NCCL reads environment
// variables, most of them once per process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/system_files.h"
#include "devices/collectives.h"

namespace bench {

// Lines of NCCL's log, the only source of the algorithms and connections in use. Pure; any text is
// safe.

/// The choice in a line of the subsystem TUNING, written by rank 0:
///   NCCL 2.24 and later  AllReduce: 4 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
///   2.27 and later       AllReduce [Symmetric]: 4 Bytes -> Kernel AllReduce_RSxLDMC nchannels 8
///   2.30                 AllGather [Copy Engine]: 4 Bytes -> cudaMemcpyBatchAsync
///   2.20 to 2.23         4 Bytes -> Algo 1 proto 0 time 9.600000 (from 2.23 after the name)
/// Numbers are those of nccl_common.h. Nothing for any other line; NCCL 2.19 and older write none,
/// and sends and receives are not tuned.
std::optional<CollectiveChoice> tuning_choice(std::string_view line);

/// Adds the paths in a line of the subsystem INIT: "... via P2P/CUMEM", "... via
/// SHM/direct/direct", "... [send] via NET/IB/0/GDRDMA", "NET/IB : Using [0]mlx5_0:1/IB ...",
/// "Connected NVLS tree".
void note_paths(std::string_view line, UsedPaths& paths);

/// Transport of a NIC: verbs, or sockets of an interface.
enum class CardKind { unknown, rdma, interface };

/// rdma if it is in /sys/class/infiniband, interface if in /sys/class/net.
CardKind card_kind(const SystemFiles& files, const std::string& name);

/// The variables, all known to NCCL 2.20 but NCCL_MNNVL_ENABLE (2.21), and why each:
///   nvlink   NCCL_P2P_LEVEL=NVL        direct access at NVLink distance only, never over PCIe
///            NCCL_SHM_DISABLE=1        nor through host memory
///            NCCL_NET_DISABLE_INTRA=1  nor over NICs within a host
///   network  NCCL_P2P_DISABLE=1, NCCL_SHM_DISABLE=1  network only, even within a host
///            NCCL_NVLS_ENABLE=0, NCCL_MNNVL_ENABLE=0 no reduction in the NVLink switch, no NVLink
///                                                    between hosts
///            NCCL_PXN_DISABLE=1        each GPU uses NICs itself, not through another GPU
///   a card   rdma: NCCL_NET=IB and NCCL_IB_HCA==NAME (the second "=" requests the exact
///            name; NCCL_NET=IB prevents a silent fallback to sockets);
///            interface: NCCL_NET=Socket and NCCL_SOCKET_IFNAME==NAME
std::map<std::string, std::string> nccl_environment(const PathRequest& paths, CardKind card);

/// Why these paths are not available in this process; "" if they are. `joined` is the request of
/// its first communicator, null before that; `card` that of the requested NIC.
std::string nccl_path_obstacle(const PathRequest& asked, CardKind card, const PathRequest* joined);

}  // namespace bench
