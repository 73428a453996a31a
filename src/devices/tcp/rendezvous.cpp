#include "devices/tcp/rendezvous.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/secret.h"
#include "core/text.h"

namespace bench {
namespace {

/// Ports below the ephemeral range (32768 and above).
constexpr int kFirstPort = 20000;
constexpr int kPorts = 10000;
constexpr int kCandidates = 8;
constexpr int kLongestTimeout = 3600;        // seconds
constexpr std::size_t kShortestSecret = 32;  // characters
constexpr std::size_t kLongestValue = 255;

[[noreturn]] void bad_variable(const std::string& name, const std::string& value,
                               const std::string& wanted) {
  throw Error(ErrorKind::environment, name + " is '" + printable(value) + "', expected " + wanted,
              "check the launcher, or the command that started the ranks");
}

class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  std::string text(const char* name) const {
    const char* value = variables_(name);
    return value == nullptr ? "" : value;
  }
  bool has(const char* name) const { return !text(name).empty(); }

  int number(const char* name, int least, int most) const {
    const std::string value = text(name);
    const auto result = parse_as<int>(value);
    if (!result || *result < least || *result > most)
      bad_variable(name, value, fmt::format("an integer from {} to {}", least, most));
    return *result;
  }

 private:
  const Variables& variables_;
};

/// Equal for all ranks of a group and different between groups, which may share the host of rank 0.
std::vector<int> ports_for(const std::string& secret, const std::string& group) {
  const std::string random = hmac_sha256(secret, "ports " + group);
  std::vector<int> ports;
  for (std::size_t i = 0; ports.size() < kCandidates; i += 2) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(random[at]); };
    ports.push_back(kFirstPort + (byte(i) * 256 + byte(i + 1)) % kPorts);
  }
  return ports;
}

std::string first_host(const Reader& read) {
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"}) {
    const std::string nodes = read.text(name);
    if (nodes.empty()) continue;
    try {
      return expand_hostlist(nodes).at(0);
    } catch (const std::exception&) {
      bad_variable(name, nodes, "a host list");
    }
  }
  return "";
}

bool from_mpirun(const Reader& read) { return read.has("OMPI_COMM_WORLD_SIZE"); }
bool from_torchrun(const Reader& read) { return read.has("RANK") && read.has("WORLD_SIZE"); }
bool from_slurm(const Reader& read) { return read.has("SLURM_PROCID") && read.has("SLURM_NTASKS"); }

void take_numbers(const Reader& read, const char* rank, const char* size, Rendezvous& found) {
  found.size = read.number(size, 1, kMostRanks);
  found.rank = read.number(rank, 0, found.size - 1);
}

/// torchrun listens on MASTER_PORT itself; use the next port.
int port_after_agent_store(const Reader& read) {
  const int port = read.number("MASTER_PORT", 1, 65535);
  if (read.text("TORCHELASTIC_USE_AGENT_STORE") != "True") return port;
  return port < 65535 ? port + 1 : kFirstPort;
}

void take_torchrun(const Reader& read, Rendezvous& found) {
  found.source = "torchrun";
  take_numbers(read, "RANK", "WORLD_SIZE", found);
  found.host = read.text("MASTER_ADDR");
  if (read.has("MASTER_PORT")) found.ports = {port_after_agent_store(read)};
  found.group = read.text("TORCHELASTIC_RUN_ID");
}

void take_slurm(const Reader& read, Rendezvous& found) {
  found.source = "Slurm";
  take_numbers(read, "SLURM_PROCID", "SLURM_NTASKS", found);
  found.host = first_host(read);
  found.group = "slurm-" + read.text("SLURM_JOB_ID") + "." + read.text("SLURM_STEP_ID");
}

void take_mpirun(const Reader& read, Rendezvous& found) {
  found.source = "mpirun";
  take_numbers(read, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", found);
  found.group = read.text("PMIX_NAMESPACE") + read.text("OMPI_MCA_ess_base_jobid");
}

/// "host", "host:29500", "10.0.0.1:29500", "[fe80::1]:29500", "fe80::1".
void take_address(const std::string& value, Rendezvous& found) {
  std::string host = value, port;
  if (value.starts_with('[')) {
    const auto close = value.find(']');
    if (close == std::string::npos) bad_variable("BENCH_RENDEZVOUS", value, "host[:port]");
    host = value.substr(1, close - 1);
    port = value.substr(close + 1);
  } else if (std::ranges::count(value, ':') == 1) {
    host = value.substr(0, value.find(':'));
    port = value.substr(value.find(':'));
  }
  found.host = host;
  if (port.empty() && !host.empty()) return;
  const auto number =
      port.starts_with(':') ? parse_as<int>(std::string_view(port).substr(1)) : std::nullopt;
  if (host.empty() || !number || *number < 1 || *number > 65535)
    bad_variable("BENCH_RENDEZVOUS", value, "host[:port]");
  found.ports = {*number};
}

void apply_overrides(const Reader& read, Rendezvous& found) {
  if (read.has("BENCH_RENDEZVOUS")) take_address(read.text("BENCH_RENDEZVOUS"), found);
  found.interfaces = read.text("BENCH_GROUP_INTERFACE");
  if (read.has("BENCH_GROUP_TIMEOUT_S"))
    found.timeout.value = read.number("BENCH_GROUP_TIMEOUT_S", 1, kLongestTimeout);
}

bool is_word(const std::string& text) {
  return text.size() <= kLongestValue &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

void require_address(const Rendezvous& found) {
  if (!is_word(found.group))
    bad_variable("the job's name", found.group, "up to 255 printable characters without blanks");
  if (!found.host.empty()) return;
  throw Error(ErrorKind::environment,
              fmt::format("the address of rank 0 is unknown to rank {} of {} (from {})", found.rank,
                          found.size, found.source),
              found.source == "torchrun" ? "set MASTER_ADDR and MASTER_PORT"
                                         : "set BENCH_RENDEZVOUS=host[:port] for all ranks");
}

/// The value is not shown: it would be a secret no longer.
void take_secret(const Reader& read, Rendezvous& found) {
  found.secret = read.text(kGroupSecret);
  const std::string hint =
      "export BENCH_GROUP_SECRET=$(openssl rand -hex 32), with the same value for all ranks; srun "
      "passes it on unless --export leaves it out";
  if (found.secret.empty())
    throw Error(ErrorKind::environment,
                fmt::format("rank {} of {} (from {}) has no BENCH_GROUP_SECRET, by which ranks "
                            "recognize each other",
                            found.rank, found.size, found.source),
                hint);
  if (found.secret.size() < kShortestSecret || !is_word(found.secret))
    throw Error(ErrorKind::environment,
                fmt::format("BENCH_GROUP_SECRET has {} characters, expected {} to {} printable "
                            "ones without blanks",
                            found.secret.size(), kShortestSecret, kLongestValue),
                hint);
  if (found.ports.empty()) found.ports = ports_for(found.secret, found.group);
}

}  // namespace

std::optional<Rendezvous> find_rendezvous(const Variables& variables) {
  const Reader read(variables);
  Rendezvous found;
  if (from_mpirun(read))
    take_mpirun(read, found);
  else if (from_torchrun(read))
    take_torchrun(read, found);
  else if (from_slurm(read))
    take_slurm(read, found);
  if (found.size <= 1) return {};
  apply_overrides(read, found);
  require_address(found);
  take_secret(read, found);
  return found;
}

}  // namespace bench
