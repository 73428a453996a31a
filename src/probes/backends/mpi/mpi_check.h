// Every return code of MPI passes here.
#pragma once

#ifdef BENCH_MPI

#include <mpi.h>

namespace bench {

/// Throws Error(environment) with MPI's own text; `call` names the function.
void check_mpi(int code, const char* call);

}  // namespace bench

#endif
