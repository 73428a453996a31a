// How ranks lie on hosts.
#pragma once

#include <string>

#include "probes/group.h"

namespace bench::storage {

/// This rank's host as it calls itself.
std::string this_host();

/// How many ranks of the group run on this rank's host, itself among them. Every rank calls it.
int ranks_on_this_host(Group& group);

}  // namespace bench::storage
