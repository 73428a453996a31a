// A record written by benchctl itself.
#pragma once

#include <string>

#include "core/record.h"

namespace bench {

/// From this host, now, rank -1. `job`: "" for the run as a whole.
Record own_record(const std::string& job, decltype(Record::body) body);

}  // namespace bench
