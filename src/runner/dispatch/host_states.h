// Which hosts of a run are out, and why: what was found out in one job spares the later ones the
// wait. For several threads.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace bench {

class HostStates {
 public:
  /// The first reason stands.
  void take_out(const std::string& host, const std::string& reason);
  /// "node03 is left out: does not answer (...)" for the first of these that is out; "" for none.
  std::string obstacle(const std::vector<std::string>& hosts) const;
  /// Host -> why.
  std::map<std::string, std::string> out() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> out_;
};

}  // namespace bench
