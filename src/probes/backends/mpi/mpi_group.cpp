#include "probes/backends/mpi/mpi_group.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"
#include "probes/backends/mpi/mpi_check.h"

#ifdef BENCH_MPI
#include "probes/backends/mpi/mpi_collectives.h"
#endif

namespace bench {
namespace {

#ifdef BENCH_MPI

/// "Open MPI v4.1.4, package: ..." shortened to "Open MPI v4.1.4".
std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

/// Where a thread computes beside the one that calls MPI it has to be told so, and OpenMPI then
/// takes locks that every small collective pays for: scripts/evidence collective_peers shows it. So
/// only such jobs ask for it, by what stands in the environment because this is decided once a
/// process: those of concurrency that communicate, and those whose probe's schema asks for it.
int wanted_threads() {
  const char* loads = std::getenv("BENCH_PARAM_loads");
  const bool communicates = loads != nullptr && std::strstr(loads, "communication") != nullptr;
  const char* threads = std::getenv("BENCH_MPI_THREADS");
  const bool funneled = threads != nullptr && std::strcmp(threads, "funneled") == 0;
  return communicates || funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
}

class MpiGroup final : public Group {
 public:
  MpiGroup() {
    int level = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, wanted_threads(), &level), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "MPI_Comm_dup");
    MPI_Comm_rank(control_, &rank_);
    MPI_Comm_size(control_, &size_);
    collectives_ = std::make_unique<MpiCollectives>();
  }

  ~MpiGroup() override {
    collectives_.reset();
    MPI_Comm_free(&control_);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void barrier() override { check_mpi(MPI_Barrier(control_), "MPI_Barrier"); }

  void broadcast(std::span<std::byte> data, int root) override {
    check_mpi(MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, control_),
              "MPI_Bcast");
  }

  void max(std::span<double> values) override { reduce(values, MPI_MAX); }
  void sum(std::span<double> values) override { reduce(values, MPI_SUM); }

  std::vector<std::string> gather(const std::string& text) override {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    check_mpi(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, control_),
              "MPI_Gather");
    std::vector<int> starts(lengths.size(), 0);
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] = starts[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(starts.back() + lengths.back()), '\0');
    check_mpi(MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), starts.data(),
                          MPI_CHAR, 0, control_),
              "MPI_Gatherv");
    std::vector<std::string> texts;
    if (rank_ == 0)
      for (std::size_t i = 0; i < starts.size(); ++i)
        texts.push_back(
            all.substr(static_cast<std::size_t>(starts[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
  }

  Collectives* collectives() override { return collectives_.get(); }
  std::string library() const override { return library_version(); }

 private:
  void reduce(std::span<double> values, MPI_Op op) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()),
                            MPI_DOUBLE, op, control_),
              "MPI_Allreduce");
  }

  MPI_Comm control_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::unique_ptr<MpiCollectives> collectives_;
};

#endif

}  // namespace

bool mpi_is_built() {
#ifdef BENCH_MPI
  return true;
#else
  return false;
#endif
}

std::unique_ptr<Group> make_mpi_group() {
#ifdef BENCH_MPI
  return std::make_unique<MpiGroup>();
#else
  throw Error(ErrorKind::environment, "this build has no MPI",
              "install libopenmpi-dev and build again, or join the ranks with --group tcp");
#endif
}

}  // namespace bench
