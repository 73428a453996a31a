#include "probes/external/job_folder.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "core/child_process.h"
#include "core/descriptor.h"
#include "core/error.h"
#include "core/job.h"
#include "core/locations.h"
#include "core/private_folder.h"

namespace bench::external {
namespace fs = std::filesystem;
namespace {

/// Another host may have a folder of that name from somebody else.
fs::path base_folder(const std::string& asked) {
  if (!asked.empty()) return asked;
  std::error_code none;
  const fs::path run = environment_variable(kRunFolderVariable);
  if (fs::is_directory(run, none) && is_trusted(run)) return run / "external";
  const std::string token = environment_variable(kRunVariable);
  return private_temporary_folder() / (token.empty() ? std::to_string(getpid()) : token);
}

}  // namespace

fs::path make_job_folder(const std::string& asked, const std::string& job) {
  const fs::path folder = fs::absolute(base_folder(asked) / job);
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot create the folder " + folder.string() + ": " + failure.message(),
                "set the parameter 'output' to another folder");
  return folder;
}

std::string log_name(int rank) { return fmt::format("rank-{:04}.log", rank); }

std::string master_address(const std::string& asked, const std::vector<std::string>& hosts) {
  if (!asked.empty()) return asked;
  const bool one =
      std::ranges::all_of(hosts, [&](const std::string& host) { return host == hosts.front(); });
  if (one) return "127.0.0.1";
  const std::string known = environment_variable("BENCH_RENDEZVOUS");
  return known.empty() || known == "localhost" ? hosts.front() : known;
}

int free_port() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (!listener.valid() || bind(listener.get(), any, size) != 0 ||
      getsockname(listener.get(), any, &size) != 0)
    throw_errno("find a free port");
  return ntohs(address.sin_port);
}

}  // namespace bench::external
