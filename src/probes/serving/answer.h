// The answer of an OpenAI-compatible server to a request for text (/v1/completions or
// /v1/chat/completions with "stream": true): as it came, and what it says.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench::serving {

/// A part of an answer as the network delivered it.
struct Arrival {
  Seconds at;           // steady_now()
  std::size_t end = 0;  // bytes of the body up to and with this part
};

struct RawAnswer {
  long status = 0;           // of HTTP; 0: there was none
  std::string problem = {};  // of the connection, the same for one cause; "" for none
  std::string detail = {};   // of the problem: addresses, times
  std::string body = {};
  std::vector<Arrival> arrivals = {};
};

struct Answer {
  std::string problem = {};  // why it does not count: "status 503: overloaded"; "" if it does
  std::string text = {};
  /// When each event that holds text was complete. Servers send a token in each, or several.
  std::vector<Seconds> times = {};
  /// As the server counts; NaN if it does not say.
  double prompt_tokens = kUnknownTokens, output_tokens = kUnknownTokens;
  std::string finish = {};  // "length", "stop", ...

  /// Of the answer: the server's count, else that of the events.
  double tokens() const;

  static constexpr double kUnknownTokens = std::numeric_limits<double>::quiet_NaN();
};

/// Never throws: what cannot be read is a problem. Problems are safe to print and do not contain
/// the secret, which a server may repeat.
Answer read_answer(const RawAnswer& raw, const std::string& secret = {});

}  // namespace bench::serving
