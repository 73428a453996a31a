// A rank that is to use a part of its host alone (core/job.h): one GPU, one NUMA node,
// one network card. Before anything looks at the machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/system_files.h"

namespace bench {

/// CUDA_VISIBLE_DEVICES for GPU `index`, of those that `visible` (the variable's value; "" for all)
/// leaves; a launcher may have chosen some already. Throws Error(environment) where there is none.
std::string only_visible(const std::string& visible, int index);
/// The same for several, in their order: rank i of a host drives the i-th.
std::string only_visible(const std::string& visible, const std::vector<int>& indices);

/// Of "cuda:3,cuda:5" and "cuda" 3 and 5; none where a word is not of that kind.
std::vector<int> device_numbers(const std::string& devices, const std::string& kind);

/// The card that a list of kCardsVariable names for a host; `host` may be longer than the name in
/// the list by a domain. Throws Error(environment) where it names none.
std::string card_of(const std::string& cards, const std::string& host);

/// What keeps OpenMPI and UCX to one card, by its name under /sys/class/infiniband or
/// /sys/class/net: sockets of its interface, verbs of its first port. Throws Error(environment)
/// naming what there is.
std::map<std::string, std::string> mpi_variables(const SystemFiles& files, const std::string& card);

/// Leaves the calling thread those of its CPUs that are the node's. Throws Error(environment) where
/// there is no such node, or no CPU is left.
void bind_to_cpus_of_node(const SystemFiles& files, int node);

/// Takes the device that the environment names: GPUs by CUDA_VISIBLE_DEVICES; a NUMA node by
/// binding this process to its CPUs, and then starting it anew as `program`, because libraries
/// count CPUs before main begins. Its memory follows by first touch.
void take_device(const std::string& program);

/// The card that the environment names for this host; "" for none.
std::string own_card();
/// Keeps MPI to it. Before MPI starts.
void keep_mpi_to_own_card();

}  // namespace bench
