// What the CPU can be asked to do, each made by the file of its name. A capability whose library
// was left out at build is null.
#pragma once

#include <memory>
#include <optional>

#include "core/units.h"
#include "probes/backends/host/host_cpus.h"
#include "probes/backends/host/thread_watch.h"

namespace bench {

class Gemm;
class Instructions;
class MemorySystem;
class Topology;
class TrainingKernels;

std::unique_ptr<Instructions> make_host_instructions(const HostCpus& cpus, HostThreadWatch& watch);
std::unique_ptr<MemorySystem> make_host_memory(const HostCpus& cpus, HostThreadWatch& watch);
std::unique_ptr<Gemm> make_host_gemm(const HostCpus& cpus, HostThreadWatch& watch);
std::unique_ptr<Topology> make_host_topology();
std::unique_ptr<TrainingKernels> make_host_training_kernels();

/// The calling core's clock just now, from some ten microseconds of a dependent chain; nothing
/// where we have no chain of known latency.
std::optional<Hertz> core_clock();

}  // namespace bench
