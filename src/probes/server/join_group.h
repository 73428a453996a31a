// Joins the ranks of a job. A single rank skips this: MPI_Init costs 100 to 300 ms.
#pragma once

#include <memory>
#include <string_view>

#include "devices/group.h"

namespace bench {

/// What joins the ranks. `automatic`: MPI if this build has it and the launcher supports it; else
/// TCP if the variables of torchrun, Slurm or mpirun name several ranks (devices/tcp/rendezvous.h);
/// else nothing.
enum class GroupKind { automatic, mpi, tcp, none };
/// Throws Error(usage) with the known names.
GroupKind group_kind_from(std::string_view name);

/// Joins the group that the launcher started. Throws Error(environment) if the rendezvous fails.
std::unique_ptr<Group> join_group(GroupKind kind = GroupKind::automatic);

}  // namespace bench
