// Which hosts of a run are out, and why: what was found out in one job spares the later ones the
// wait. For several threads.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// A host that is out, and why: "does not answer: ssh: connect to ... timed out".
struct OutHost {
  std::string host, why;
};

class HostStates {
 public:
  /// The first reason stands.
  void take_out(const std::string& host, const std::string& reason);
  /// The first of these that is out; none when all are in.
  std::optional<OutHost> first_out(const std::vector<std::string>& hosts) const;
  /// Host -> why.
  std::map<std::string, std::string> out() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> out_;
};

}  // namespace bench
