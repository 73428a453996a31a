// Ranks that MPI has joined.
#pragma once

#include <memory>

#include "devices/group.h"

namespace bench {

bool mpi_is_built();

/// Calls MPI_Init, which costs 100 to 300 ms. Throws Error(environment) where this build has no
/// MPI.
std::unique_ptr<Group> make_mpi_group();

}  // namespace bench
