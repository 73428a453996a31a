// A server with OpenAI's interface whose delays are known: it sends words that follow from the
// prompt, one an event, each at its time, and does wrong what it is asked to do wrong.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/units.h"

namespace bench::serving {

enum class ServerFault {
  none,
  overloaded,     // status 503
  broken_off,     // the connection ends within the answer
  garbage,        // an event that is not JSON
  error_event,    // an event that says what went wrong
  without_text,   // no token
  without_count,  // no usage
  ends_early,     // half of the tokens, then "stop"
  silent          // no answer at all
};

struct StandInSetting {
  Seconds first_token = {0.005}, per_token = {0.001};
  int most_at_once = 0;  // requests; others wait for their turn. 0: no limit
  ServerFault fault = ServerFault::none;
  int fault_every = 1;              // of the requests with more tokens than one
  bool changes_under_load = false;  // its words depend on the number of requests under way
  bool forgets = false;             // its words depend on the number of requests so far
  std::string key = {};             // demanded if there is one
  bool knows_ignore_eos = true;     // else such requests are refused
  /// Two bytes of each part at a time.
  bool in_small_pieces = false;
};

class StandInServer {
 public:
  explicit StandInServer(const StandInSetting& setting);
  ~StandInServer();
  StandInServer(const StandInServer&) = delete;
  StandInServer& operator=(const StandInServer&) = delete;

  /// "http://127.0.0.1:PORT/v1".
  std::string url() const;
  int requests() const { return requests_; }
  int most_under_way() const { return most_under_way_; }
  /// Stops it; by how many seconds each first token was late.
  std::vector<double> first_token_lateness();

  /// Tokens of a prompt: 3 for each word, and 7.
  static constexpr int kTokensPerWord = 3, kMoreTokens = 7;

 private:
  void stop();
  class Loop;
  std::atomic<int> requests_ = 0, most_under_way_ = 0;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

}  // namespace bench::serving
