// The tests' group with collectives of the test's own, and brief jobs of the collective probe.
#pragma once

#include "probes/device/collectives.h"
#include "tests/mpi/mpi_test.h"

namespace bench {

/// The test's group with other collectives.
class WrappedGroup final : public Group {
 public:
  WrappedGroup(Group& group, Collectives& collectives) : group_(group), collectives_(collectives) {}
  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void barrier() override { group_.barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { group_.broadcast(data, root); }
  void max(std::span<double> values) override { group_.max(values); }
  void sum(std::span<double> values) override { group_.sum(values); }
  std::vector<std::string> gather(const std::string& text) override { return group_.gather(text); }
  Collectives* collectives() override { return &collectives_; }
  std::string library() const override { return group_.library(); }

 private:
  Group& group_;
  Collectives& collectives_;
};

inline MpiRun run_collective(Group& group, const Json& params) {
  Json all = {
      {"placements", {"out_of_place"}}, {"min_bytes", 64}, {"max_bytes", 4096}, {"factor", 8}};
  all.update(params);
  return run_briefly(group, "collective", all);
}

}  // namespace bench
