// The group that all tests of this program share: MPI can be initialised once only.
#pragma once

#include "probes/group.h"

namespace bench {

Group& mpi_test_group();

}  // namespace bench
