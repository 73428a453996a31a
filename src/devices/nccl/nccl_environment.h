// How NCCL is told over which paths to join the ranks. It has no call for that: it reads variables
// of its environment, most of them once in a process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/system_files.h"
#include "devices/collectives.h"

namespace bench {

// What NCCL says of itself in its log, line by line: there is no call that tells which algorithm an
// operation took or over what the ranks were joined. Pure; any text is safe.

/// How an operation was done, from a line of the subsystem TUNING, which rank 0 writes:
///   NCCL 2.24 and later  AllReduce: 4 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
///   2.27 and later too   AllReduce [Symmetric]: 4 Bytes -> Kernel AllReduce_RSxLDMC nchannels 8
///   ... 2.30                 AllGather [Copy Engine]: 4 Bytes -> cudaMemcpyBatchAsync 2.20 to 2.23
///   4 Bytes -> Algo 1 proto 0 time 9.600000 (from 2.23 with the name before)
/// Numbers count as NCCL's nccl_common.h does. Nothing for any other line; NCCL 2.19 and older
/// write none, and sends and receives are not tuned.
std::optional<CollectiveChoice> tuning_choice(std::string_view line);

/// Adds what a line of the subsystem INIT says: "... via P2P/CUMEM", "... via SHM/direct/direct",
/// "... [send] via NET/IB/0/GDRDMA", "NET/IB : Using [0]mlx5_0:1/IB ...", "Connected NVLS tree".
void note_paths(std::string_view line, UsedPaths& paths);

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
