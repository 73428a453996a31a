// What NCCL says of itself in its log, line by line: there is no call that tells which algorithm an
// operation took or over what the ranks were joined. Pure; any text is safe.
#pragma once

#include <optional>
#include <string_view>

#include "probes/device/collectives.h"

namespace bench {

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

}  // namespace bench
