// Text and JSON of `benchctl list hosts`.
#pragma once

#include <string>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// One object per host: {name, address, slots, devices, labels, profile, groups}; devices and profile
/// may be null.
Json hosts_list(const Inventory& inventory);

/// A table with one line per host.
std::string hosts_table(const Json& hosts);

}  // namespace bench
