// Ranks connected by MPI.
#pragma once

#include <memory>

#include "devices/group.h"

namespace bench {

bool mpi_is_built();

/// Calls MPI_Init, which takes 100 to 300 ms. Throws Error(environment) if built without MPI.
std::unique_ptr<Group> make_mpi_group();

}  // namespace bench
