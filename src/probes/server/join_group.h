// Joins the ranks of a job. A single rank skips this: MPI_Init costs 100 to 300 ms.
#pragma once

#include <memory>
#include <string_view>

#include "devices/group.h"

namespace bench {

/// What joins the ranks: `automatic` is MPI where a launcher started us that speaks it and this
/// build has it; else TCP, where the variables of torchrun, Slurm or mpirun say that there are
/// several ranks (backends/tcp/rendezvous.h); else nothing.
enum class GroupKind { automatic, mpi, tcp, none };
/// Throws Error(usage) naming what there is.
GroupKind group_kind_from(std::string_view name);

/// Joins the group the launcher started us in. Throws Error(environment) when its ranks do not come
/// together.
std::unique_ptr<Group> join_group(GroupKind kind = GroupKind::automatic);

}  // namespace bench
