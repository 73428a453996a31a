// Ranks whose calls of collectives and messages are noted, also in the groups that they are divided
// into.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench {

class LoggedCalls final : public Group, public Collectives {
 public:
  using Log = std::vector<std::string>;
  /// After each call of this rank: its group's size, and what it received.
  using Change = std::function<void(int ranks, std::span<std::byte> received)>;

  LoggedCalls(Group& group, Log& log, Change change = {})
      : group_(group), log_(log), change_(std::move(change)) {}
  LoggedCalls(std::unique_ptr<Group> group, Log& log, Change change)
      : owned_(std::move(group)), group_(*owned_), log_(log), change_(std::move(change)) {}

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
    auto part = std::make_unique<LoggedCalls>(group_.subgroup(number), log_, change_);
    part->loses = loses;
    return part;
  }

  void run(CollectiveOp op, const void* send, void* recv, std::size_t count, Dtype dtype) override {
    log_.push_back(fmt::format("{} of {} over {}", to_string(op), count, size()));
    group_.collectives()->run(op, send, recv, count, dtype);
    const bool one_part = op == CollectiveOp::all_reduce || op == CollectiveOp::reduce_scatter;
    const std::size_t parts = one_part ? 1 : static_cast<std::size_t>(size());
    if (change_) change_(size(), {static_cast<std::byte*>(recv), count * size_of(dtype) * parts});
  }
  Overlap* overlap() override { return group_.collectives()->overlap(); }
  bool sends_messages() const override { return true; }
  void send(std::span<const std::byte> data, int to) override {
    log_.push_back(fmt::format("send {} bytes", data.size()));
    group_.collectives()->send(data, to);
  }
  void receive(std::span<std::byte> data, int from) override {
    log_.push_back(fmt::format("receive {} bytes", data.size()));
    std::vector<std::byte> lost(loses && loses() ? data.size() : 0);
    group_.collectives()->receive(lost.empty() ? data : std::span(lost), from);
    if (change_) change_(size(), data);
  }

  /// Whether a message that arrives now is not written to where it belongs.
  std::function<bool()> loses = {};

 private:
  std::unique_ptr<Group> owned_ = {};
  Group& group_;
  Log& log_;
  Change change_;
};

}  // namespace bench
