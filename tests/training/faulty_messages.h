// Ranks whose data arrive changed, also in the groups that they are divided into.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench::training {

/// What happens to the data of this rank.
struct MessageFaults {
  /// After a collective operation among so many ranks: what was received, in bytes.
  std::function<void(CollectiveOp, int ranks, std::span<std::byte>)> collected = {};
  std::function<void(std::span<std::byte>)> received = {};
};

class FaultyMessages final : public Group, public Collectives {
 public:
  /// `faults` must outlive it and its subgroups, `group` if it is not owned too.
  FaultyMessages(Group& group, const MessageFaults& faults) : group_(group), faults_(faults) {}
  FaultyMessages(std::unique_ptr<Group> group, const MessageFaults& faults)
      : owned_(std::move(group)), group_(*owned_), faults_(faults) {}

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void barrier() override { group_.barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { group_.broadcast(data, root); }
  void max(std::span<double> values) override { group_.max(values); }
  void sum(std::span<double> values) override { group_.sum(values); }
  std::vector<std::string> gather(const std::string& text) override { return group_.gather(text); }
  std::string library() const override { return group_.library(); }
  Collectives* collectives() override { return this; }
  std::unique_ptr<Group> subgroup(int number) override {
    return std::make_unique<FaultyMessages>(group_.subgroup(number), faults_);
  }

  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    group_.collectives()->run(op, send, recv, count, dtype);
    const std::size_t bytes = count * size_of(dtype) * static_cast<std::size_t>(size());
    if (faults_.collected) faults_.collected(op, size(), {static_cast<std::byte*>(recv), bytes});
  }
  bool sends_messages() const override { return true; }
  void send(std::span<const std::byte> data, int to) override {
    group_.collectives()->send(data, to);
  }
  void receive(std::span<std::byte> data, int from) override {
    group_.collectives()->receive(data, from);
    if (faults_.received) faults_.received(data);
  }

 private:
  std::unique_ptr<Group> owned_ = {};
  Group& group_;
  const MessageFaults& faults_;
};

}  // namespace bench::training
