// IDs of the reruns of a job: "03.gemm.2.again1".
#pragma once

#include <string>
#include <string_view>

namespace bench {

inline std::string rerun_id(const std::string& job, int k) {
  return job + ".again" + std::to_string(k);
}

inline bool is_again(std::string_view id, const std::string& job) {
  return id.starts_with(job + ".again");
}

}  // namespace bench
