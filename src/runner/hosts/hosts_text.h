// The hosts of an inventory for people and for scripts: `benchctl list hosts`.
#pragma once

#include <string>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// One object a host: {name, address, slots, devices, labels, profile, groups}; devices and profile
/// are null where none are stated.
Json hosts_list(const Inventory& inventory);

/// A table of what hosts_list gives, a line a host.
std::string hosts_table(const Json& hosts);

}  // namespace bench
