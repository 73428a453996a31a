// A client of an OpenAI-compatible server: many requests at once from one thread, each sent when it
// is due, whatever became of the ones before it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/units.h"
#include "probes/serving/answer.h"
#include "probes/serving/request_maker.h"

namespace bench::serving {

struct ServerSetting {
  std::string url = {};      // "http://host:8000/v1", without a '/' at the end
  std::string api_key = {};  // "": none. In no message
  std::string ca_file = {};  // "": the system's
  bool chat = false;
  Seconds stall = {60.0};  // a request fails after so long without a byte
};

/// Why there is no client here, "" if there is one.
std::string no_serving_client();

/// An open loop: requests come at random times (a Poisson process), however many are under way. A
/// closed one: each client sends its next request when its last one was answered, or a tenth of a
/// second after it failed.
struct LoadSetting {
  double rate = 0.0;  // requests per second of an open loop; 0: a closed one
  int clients = 1;    // of a closed loop
  Seconds ramp = {};  // before the measured time, under the same load
  Seconds duration = {10.0};
  Seconds drain = {30.0};  // after it, under the same load, until all measured requests have ended
  int most_open = 1024;    // connections; a request that would be one more waits
  std::uint64_t seed = 1;  // of the times
  std::uint64_t first_number = 0;  // of its requests
};

/// A request and what became of it. Times are steady_now().
struct ServedRequest {
  int output_tokens = 0;  // as in PlannedRequest
  int check = -1;
  Seconds due = {}, sent = {}, ended = {};
  bool measured = false;    // it was due in the measured time
  bool waited = false;      // it was due when all connections were in use
  bool unfinished = false;  // it was cut off, or not even sent, at the end of the drain
  RawAnswer answer = {};
};

class ServingClient {
 public:
  /// Throws Error(environment) if no_serving_client().
  explicit ServingClient(const ServerSetting& setting);
  ~ServingClient();
  ServingClient(const ServingClient&) = delete;
  ServingClient& operator=(const ServingClient&) = delete;

  /// One request for text, alone.
  RawAnswer ask(const PlannedRequest& request);
  /// GET of a path below the URL, such as "/models".
  RawAnswer get(const std::string& path);

  using Maker = std::function<PlannedRequest(std::uint64_t number)>;
  using Taker = std::function<void(ServedRequest)>;
  /// From a time on. `make` and `take` are called in this thread, between the network's events:
  /// both should be quick. Returns the CPU time of this thread in the measured time. Throws
  /// Error(environment) if the loop itself fails; failed requests are taken as they are.
  Seconds run(const LoadSetting& load, Seconds start, const Maker& make, const Taker& take);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

/// Of a Poisson process: the time between two arrivals, from 64 random bits. Seconds.
double exponential_gap(double rate, std::uint64_t bits);

}  // namespace bench::serving
