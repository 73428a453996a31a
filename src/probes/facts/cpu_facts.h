// What the kernel says about the processors: model, packages, cores, hardware threads, frequency
// control. A part of host_facts.
#pragma once

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

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
