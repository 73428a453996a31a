// Lines of the meeting, before frames are spoken.
#pragma once

#include <string>

#include "core/descriptor.h"

namespace bench {

/// Reads on: true when `heard` ends with a newline, `over` when it never will (the peer is gone, or
/// the line is longer than kMaxHandshake). Not a byte beyond the line: what comes next is the
/// group's.
bool receive_line(const Descriptor& socket, std::string& heard, bool& over);

/// Without the newline.
std::string without_newline(const std::string& line);

}  // namespace bench
