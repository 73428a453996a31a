// A stream of server-sent events (WHATWG HTML, section 9.2): the form in which servers of language
// models send tokens as they come.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench::serving {

struct ServerEvent {
  std::string data;     // its lines of data, with '\n' between them
  std::size_t end = 0;  // of the event in the text: it is complete when so many bytes are there
};

/// The events of a text, in order; an incomplete one at its end is left out, and so are fields
/// other than data, and comments.
std::vector<ServerEvent> server_events(std::string_view text);

}  // namespace bench::serving
