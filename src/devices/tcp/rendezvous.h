// Rank, group size and address of rank 0, from the variables of the launcher: torchrun
// (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), srun (SLURM_PROCID, SLURM_NTASKS,
// SLURM_STEP_NODELIST) or mpirun (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE).
// BENCH_RENDEZVOUS=host[:port], BENCH_GROUP_INTERFACE and BENCH_GROUP_TIMEOUT_S take precedence,
// and BENCH_GROUP_SECRET is required. A pure function of the variables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

inline constexpr int kMostRanks = 65536;

struct Rendezvous {
  std::string source;  // the launcher: "torchrun", "Slurm", "mpirun"
  int rank = 0;
  int size = 1;
  std::string host;  // of rank 0: a name, an IPv4 or an IPv6 address without brackets
  /// Where rank 0 may listen: one port if the launcher or the user names it, else several that
  /// follow from the secret and the group, so that strangers cannot foresee them.
  std::vector<int> ports;
  std::string group;       // public: the job and step, if the launcher has numbers for them
  std::string secret;      // by which ranks prove themselves (handshake.h)
  std::string interfaces;  // "eth0" or "10.0.0.0/16", several with commas; "" is any
  Seconds timeout{25.0};   // for all ranks to connect; below benchctl's start timeout (30 s)
};

/// getenv, or a test's.
using Variables = std::function<const char*(const char* name)>;

/// Nothing unless a launcher indicates several ranks. Throws Error(environment) naming the variable
/// that is missing or invalid.
std::optional<Rendezvous> find_rendezvous(const Variables& variables);

}  // namespace bench
