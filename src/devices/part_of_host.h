// Restricts a rank to a part of its host (core/job.h), one GPU, NUMA node or NIC, before any
// library inspects the machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/system_files.h"

namespace bench {

/// CUDA_VISIBLE_DEVICES for GPU `index` among those in `visible` (the current value, possibly set
/// by a launcher; "" for all). Throws Error(environment) if there is none.
std::string only_visible(const std::string& visible, int index);
/// For several GPUs: rank i of a host uses the i-th.
std::string only_visible(const std::string& visible, const std::vector<int>& indices);

/// {3, 5} for "cuda:3,cuda:5" and "cuda"; empty if any entry is of another kind.
std::vector<int> device_numbers(const std::string& devices, const std::string& kind);

/// The NIC of a host in a kCardsVariable list; `host` may have a domain that the list lacks. Throws
/// Error(environment) if there is none.
std::string card_of(const std::string& cards, const std::string& host);

/// Variables that restrict Open MPI and UCX to a NIC in /sys/class/infiniband or /sys/class/net:
/// its interface for sockets, its first port for verbs. Throws Error(environment) listing the
/// existing NICs.
std::map<std::string, std::string> mpi_variables(const SystemFiles& files, const std::string& card);

/// Binds the calling thread to those of its CPUs that belong to the node. Throws Error(environment)
/// if there is no such node or no CPU remains.
void bind_to_cpus_of_node(const SystemFiles& files, int node);

/// Applies kDeviceVariable: GPUs by CUDA_VISIBLE_DEVICES; a NUMA node by binding this process to
/// its CPUs and restarting it as `program`, because libraries count CPUs before main(). Memory
/// follows by first touch.
void take_device(const std::string& program);

/// The NIC in kCardsVariable for this host; "" for none.
std::string own_card();
/// Restricts MPI to own_card(). Call it before MPI_Init.
void keep_mpi_to_own_card();

}  // namespace bench
