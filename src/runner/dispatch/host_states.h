// The excluded hosts of a run: later jobs on them are skipped at once. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// An excluded host and the reason: "does not answer: ssh: connect to ... timed out".
struct ExcludedHost {
  std::string host, why;
};

class HostStates {
 public:
  /// Keeps the first reason.
  void exclude(const std::string& host, const std::string& reason);
  /// The first excluded host among these, if any.
  std::optional<ExcludedHost> first_excluded(const std::vector<std::string>& hosts) const;
  /// Host -> reason.
  std::map<std::string, std::string> out() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> out_;
};

}  // namespace bench
