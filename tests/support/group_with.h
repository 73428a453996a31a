// A group of ranks whose collectives are a test's own.
#pragma once

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench {

/// The collectives of another group, which a test's own kind passes most things on to.
class PassingCollectives : public Collectives {
 public:
  explicit PassingCollectives(Group& group) : inner_(*group.collectives()) {}
  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    inner_.run(op, send, recv, count, dtype);
  }
  Overlap* overlap() override { return inner_.overlap(); }

 private:
  Collectives& inner_;
};

/// A group with other collectives, or with none, as ranks have that met over TCP; both must outlive
/// it.
class GroupWith final : public Group {
 public:
  GroupWith(Group& group, Collectives& collectives) : group_(&group), collectives_(&collectives) {}
  explicit GroupWith(Group& group) : group_(&group) {}
  int rank() const override { return group_->rank(); }
  int size() const override { return group_->size(); }
  void barrier() override { group_->barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { group_->broadcast(data, root); }
  void max(std::span<double> values) override { group_->max(values); }
  void sum(std::span<double> values) override { group_->sum(values); }
  std::vector<std::string> gather(const std::string& text) override { return group_->gather(text); }
  Collectives* collectives() override { return collectives_; }
  std::string library() const override { return group_->library(); }

 private:
  Group* group_;
  Collectives* collectives_ = nullptr;
};

}  // namespace bench
