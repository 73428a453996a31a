#include "runner/dispatch/host_states.h"

namespace bench {

void HostStates::exclude(const std::string& host, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  out_.emplace(host, reason);
}

std::optional<ExcludedHost> HostStates::first_excluded(const std::vector<std::string>& hosts) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& host : hosts)
    if (const auto found = out_.find(host); found != out_.end())
      return ExcludedHost{host, found->second};
  return {};
}

std::map<std::string, std::string> HostStates::out() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

}  // namespace bench
