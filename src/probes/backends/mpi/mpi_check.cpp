#include "probes/backends/mpi/mpi_check.h"

#ifdef BENCH_MPI

#include <string>

#include "core/error.h"

namespace bench {

void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw Error(ErrorKind::environment, std::string(call) + " failed: " + text);
}

}  // namespace bench

#endif
