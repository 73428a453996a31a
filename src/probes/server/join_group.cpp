#include "probes/server/join_group.h"

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/names.h"
#include "core/secret.h"
#include "devices/mpi/mpi_group.h"
#include "devices/tcp/tcp_group.h"

namespace bench {
namespace {

constexpr NameTable<GroupKind, 4> kKinds{{{{GroupKind::automatic, "auto"},
                                           {GroupKind::mpi, "mpi"},
                                           {GroupKind::tcp, "tcp"},
                                           {GroupKind::none, "none"}}}};

const char* variable(const char* name) { return std::getenv(name); }

/// srun --mpi=pmix gives PMIX_RANK and no size.
bool launcher_speaks_mpi() {
  return variable("OMPI_COMM_WORLD_SIZE") != nullptr || variable("PMI_SIZE") != nullptr ||
         variable("PMIX_RANK") != nullptr;
}

/// The number of ranks according to the launcher; 1 without a launcher.
int launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    // Batch scripts have SLURM_NTASKS as well; only the ranks of a step have SLURM_PROCID.
    if (std::string(name) == "SLURM_NTASKS" && variable("SLURM_PROCID") == nullptr) continue;
    if (const char* value = variable(name)) return std::atoi(value);
  }
  return 1;
}

std::unique_ptr<Group> join_by_mpi() {
  const int ranks = launched_ranks();
  if (ranks <= 1) return make_self_group();
  auto group = make_mpi_group();
  if (group->size() != ranks)
    throw Error(
        ErrorKind::environment,
        "the launcher started " + std::to_string(ranks) + " ranks, but MPI reports " +
            std::to_string(group->size()),
        "this MPI does not support the launcher's protocol: use srun --mpi=pmix with OpenMPI, or "
        "--group tcp");
  return group;
}

/// Children, such as the training of another, do not inherit it.
std::string take_secret() {
  const char* value = variable(kGroupSecret);
  std::string secret = value == nullptr ? "" : value;
  unsetenv(kGroupSecret);
  return secret;
}

std::unique_ptr<Group> join_by_tcp(const std::string& secret) {
  const auto rendezvous = find_rendezvous([&](const char* name) {
    return std::string_view(name) == kGroupSecret ? secret.c_str() : variable(name);
  });
  return rendezvous ? make_tcp_group(*rendezvous) : make_self_group();
}

}  // namespace

GroupKind group_kind_from(std::string_view name) {
  try {
    return kKinds.value(name, "group");
  } catch (const Error& error) {
    throw Error(ErrorKind::usage, std::string("--group ") + error.what(), error.hint());
  }
}

std::unique_ptr<Group> join_group(GroupKind kind) {
  const std::string secret = take_secret();
  if (kind == GroupKind::none) return make_self_group();
  if (kind == GroupKind::automatic)
    kind = launcher_speaks_mpi() && mpi_is_built() ? GroupKind::mpi : GroupKind::tcp;
  return kind == GroupKind::mpi ? join_by_mpi() : join_by_tcp(secret);
}

}  // namespace bench
