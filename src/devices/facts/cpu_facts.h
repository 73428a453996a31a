// What the kernel says about the processors: model, packages, cores, hardware threads, frequency
// control. A part of host_facts.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

// The processors that the calling thread may run on: a launcher, a binding or a container makes
// them a part of the host.

/// By its affinity mask, ascending; hardware threads of one core are several. Throws
/// Error(environment) where the kernel does not tell.
std::vector<int> allowed_cpus();

inline constexpr const char* kUnreadable = "unreadable";
inline constexpr const char* kNone = "none";

/// The value, or the text "unreadable".
template <class T>
Json or_unreadable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(kUnreadable);
}

/// The first processor's part of /proc/cpuinfo: the whole costs milliseconds where there are
/// hundreds.
std::string first_processor(const SystemFiles& files);

/// Adds its keys to `facts`.
void add_cpu_facts(const SystemFiles& files, Json& facts);

}  // namespace bench
