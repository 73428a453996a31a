// Processors according to the kernel: model, packages, cores, hardware threads, frequency control.
// A part of host_facts.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// The hardware threads that the calling thread may run on, ascending; a launcher, binding or
/// container may restrict them. Throws Error(environment).
std::vector<int> allowed_cpus();

inline constexpr const char* kUnreadable = "unreadable";
inline constexpr const char* kNone = "none";

/// The value, or the text "unreadable".
template <class T>
Json or_unreadable(const std::optional<T>& value) {
  return value ? Json(*value) : Json(kUnreadable);
}

/// The first processor's part of /proc/cpuinfo: the whole file takes milliseconds to read on hosts
/// with hundreds.
std::string first_processor(const SystemFiles& files);

/// Adds its keys to `facts`.
void add_cpu_facts(const SystemFiles& files, Json& facts);

}  // namespace bench
