#include "devices/part_of_host.h"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "core/child_process.h"
#include "core/error.h"
#include "core/job.h"
#include "core/locations.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";
constexpr int kMostCpus = 1 << 16;

void set(const std::string& name, const std::string& value) {
  if (setenv(name.c_str(), value.c_str(), 1) != 0) throw_errno("set " + name);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

/// The given CPUs that this process may use.
using CpuSet = std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)>;
CpuSet allowed_of(const std::vector<int>& cpus, std::size_t bytes) {
  const auto make = [] {
    return CpuSet(CPU_ALLOC(kMostCpus), [](cpu_set_t* set) { CPU_FREE(set); });
  };
  CpuSet allowed = make(), chosen = make();
  CPU_ZERO_S(bytes, chosen.get());
  if (sched_getaffinity(0, bytes, allowed.get()) != 0) throw_errno("read the affinity mask");
  for (const int cpu : cpus)
    if (cpu < kMostCpus && CPU_ISSET_S(cpu, bytes, allowed.get()))
      CPU_SET_S(cpu, bytes, chosen.get());
  return chosen;
}

[[noreturn]] void restart(const std::string& program) {
  unsetenv(kDeviceVariable);
  const std::string path = program_path().string();
  execl(path.c_str(), program.c_str(), nullptr);
  throw_errno("restart " + path);
}

std::string name_list(const SystemFiles& files) {
  auto names = files.entries("sys/class/infiniband");
  for (const std::string& name : files.entries("sys/class/net"))
    if (name != "lo") names.push_back(name);
  return names.empty() ? "none" : join(names, ", ");
}

}  // namespace

void bind_to_cpus_of_node(const SystemFiles& files, int node) {
  const auto cpus = files.list("sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  const std::string name = "numa:" + std::to_string(node);
  if (!cpus)
    throw Error(ErrorKind::environment, host_name() + " has no NUMA node " + std::to_string(node),
                "available: " + files.text("sys/devices/system/node/online").value_or("none"));
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostCpus);
  const CpuSet chosen = allowed_of(*cpus, bytes);
  if (CPU_COUNT_S(bytes, chosen.get()) == 0)
    throw Error(ErrorKind::environment,
                "no CPU of " + name + " on " + host_name() + " is available to this process",
                "check its cgroup and the launcher's binding");
  if (sched_setaffinity(0, bytes, chosen.get()) != 0) throw_errno("bind to " + name);
}

std::string only_visible(const std::string& visible, int index) {
  if (visible.empty()) return std::to_string(index);
  const auto left = split(visible);
  if (index >= 0 && static_cast<std::size_t>(index) < left.size())
    return left[static_cast<std::size_t>(index)];
  throw Error(ErrorKind::environment,
              "no cuda:" + std::to_string(index) + " on " + host_name() + ": " + kVisible + " is " +
                  printable(visible),
              "request all GPUs of the host from the launcher, or list fewer \"devices\"");
}

std::string card_of(const std::string& cards, const std::string& host) {
  if (cards.find('=') == std::string::npos) return cards;
  for (const std::string& pair : split(cards)) {
    const std::string name = pair.substr(0, pair.find('='));
    if (name == host || host.starts_with(name + ".")) return pair.substr(name.size() + 1);
  }
  throw Error(ErrorKind::environment, "no network card is given for " + printable(host),
              "hosts with different card names must be listed in the hosts file under their own "
              "host names");
}

std::map<std::string, std::string> mpi_variables(const SystemFiles& files,
                                                 const std::string& card) {
  if (files.exists("sys/class/net/" + card))
    return {{"OMPI_MCA_btl_tcp_if_include", card}, {"UCX_NET_DEVICES", card}};
  const std::string rdma = "sys/class/infiniband/" + card;
  if (!files.exists(rdma))
    throw Error(ErrorKind::environment,
                host_name() + " has no network card '" + printable(card) + "'",
                "available: " + name_list(files));
  std::map<std::string, std::string> variables = {{"OMPI_MCA_btl_openib_if_include", card},
                                                  {"UCX_NET_DEVICES", card + ":1"}};
  if (const auto interfaces = files.entries(rdma + "/device/net"); !interfaces.empty())
    variables["OMPI_MCA_btl_tcp_if_include"] = join(interfaces, ",");
  return variables;
}

std::string only_visible(const std::string& visible, const std::vector<int>& indices) {
  std::vector<std::string> chosen;
  for (const int index : indices) chosen.push_back(only_visible(visible, index));
  return join(chosen, ",");
}

std::vector<int> device_numbers(const std::string& devices, const std::string& kind) {
  std::vector<int> numbers;
  for (const std::string& device : split(devices)) {
    const auto number = device.starts_with(kind + ":")
                            ? parse_number(std::string_view(device).substr(kind.size() + 1))
                            : std::nullopt;
    if (!number || *number < 0 || *number > kMostCpus) return {};
    numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

void take_device(const std::string& program) {
  const std::string device = environment_variable(kDeviceVariable);
  if (device.empty()) return;
  const auto gpus = device_numbers(device, "cuda"), nodes = device_numbers(device, "numa");
  if (gpus.empty() && nodes.size() != 1)
    throw Error(ErrorKind::environment,
                std::string(kDeviceVariable) + " is '" + printable(device) + "'",
                "use cuda:N or numa:N, or several GPUs: cuda:0,cuda:3");
  if (!nodes.empty()) {
    bind_to_cpus_of_node(SystemFiles(), nodes.front());
    restart(program);
  }
  // As nvidia-smi numbers them, not the fastest first.
  set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  set(kVisible, only_visible(environment_variable(kVisible), gpus));
}

std::string own_card() {
  const std::string cards = environment_variable(kCardsVariable);
  return cards.empty() ? "" : card_of(cards, host_name());
}

void keep_mpi_to_own_card() {
  const std::string card = own_card();
  if (card.empty()) return;
  for (const auto& [name, value] : mpi_variables(SystemFiles(), card)) set(name, value);
}

}  // namespace bench
