#include "probes/traffic/trace_matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace bench {
namespace {

/// Of all ranks: rank 0 gathers them as texts, whose bytes MPI counts as int.
constexpr double kMostTraceText = 1 << 30;

bool is_message(TrafficKind kind) {
  return kind == TrafficKind::send || kind == TrafficKind::receive;
}

class TraceMeeting {
 public:
  TraceMeeting(const std::vector<std::vector<TraceCall>>& ranks, const TrafficSplit& split)
      : ranks_(ranks), split_(split), next_(ranks.size(), 0) {
    const int count = static_cast<int>(ranks.size());
    for (int rank = 0; rank < count; ++rank) {
      places_.push_back(traffic_place(split, rank, count));
      for (const auto& [group, name] : kTrafficGroups.entries)
        members_[{group, group_number(group, split, places_.back())}].push_back(rank);
    }
  }

  std::string mismatch() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        while (step(static_cast<int>(rank))) moved = true;
      if (!why_.empty()) return why_;
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (next_[rank] < ranks_[rank].size()) return stuck(static_cast<int>(rank));
    for (const auto& [channel, messages] : sent_)
      if (!messages.empty()) return named(messages.front()) + " is never received";
    return "";
  }

 private:
  struct Message {
    int sender = 0;
    const TraceCall* call = nullptr;
    std::size_t number = 0;  // of the sender's in the group
  };
  /// A rank's messages in a group.
  struct Outbox {
    std::size_t next = 0;
    std::set<std::size_t> undelivered = {};

    /// Delivered ones are forgotten in the order of sending.
    bool full() const {
      return !undelivered.empty() && next - *undelivered.begin() >= kMostUndeliveredSends;
    }
  };
  using Channel = std::tuple<TrafficGroup, int, int>;  // from one rank of all to another

  const TraceCall* current(int rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return next_[at] < ranks_[at].size() ? &ranks_[at][next_[at]] : nullptr;
  }
  const std::vector<int>& members(TrafficGroup group, int rank) const {
    return members_.at(
        {group, group_number(group, split_, places_[static_cast<std::size_t>(rank)])});
  }
  static std::string named(int rank, const TraceCall& call) {
    return fmt::format("node with id {} of rank {} ({} {} of {} elements)", call.node, rank,
                       kTrafficGroups.name(call.group), kTrafficKinds.name(call.kind),
                       call.elements);
  }
  static std::string named(const Message& message) { return named(message.sender, *message.call); }
  void done(int rank) { ++next_[static_cast<std::size_t>(rank)]; }

  /// Whether the rank's next operation could be done.
  bool step(int rank) {
    const TraceCall* call = current(rank);
    if (call == nullptr || !why_.empty()) return false;
    if (!is_message(call->kind)) return meet(rank, *call);
    const int peer = members(call->group, rank)[static_cast<std::size_t>(call->peer)];
    if (call->kind == TrafficKind::send) {
      Outbox& outbox = outboxes_[{call->group, rank}];
      if (outbox.full()) return false;
      outbox.undelivered.insert(outbox.next);
      sent_[{call->group, rank, peer}].push_back({rank, call, outbox.next++});
      done(rank);
      return true;
    }
    auto& messages = sent_[{call->group, peer, rank}];
    if (messages.empty()) return false;
    if (messages.front().call->elements != call->elements) {
      why_ = named(rank, *call) + " would receive " + named(messages.front());
      return false;
    }
    outboxes_[{call->group, peer}].undelivered.erase(messages.front().number);
    messages.pop_front();
    done(rank);
    return true;
  }

  /// A collective, once all ranks of its group are there.
  bool meet(int rank, const TraceCall& call) {
    const std::vector<int>& group = members(call.group, rank);
    for (const int other : group) {
      const TraceCall* its = current(other);
      if (its == nullptr || is_message(its->kind) || its->group != call.group) return false;
      if (its->kind == call.kind && its->elements == call.elements) continue;
      why_ = named(rank, call) + " would meet " + named(other, *its);
      return false;
    }
    // An all-to-all is made of messages, which follow earlier ones.
    if (call.kind == TrafficKind::all_to_all)
      for (const auto& [channel, messages] : sent_)
        if (std::get<0>(channel) == call.group && !messages.empty() &&
            std::ranges::find(group, messages.front().sender) != group.end()) {
          why_ = named(rank, call) + " would receive " + named(messages.front());
          return false;
        }
    for (const int other : group) done(other);
    return true;
  }

  std::string stuck(int rank) const {
    const TraceCall& call = *current(rank);
    std::string other = "all operations of the ranks it needs are done";
    for (const int member : members(call.group, rank))
      if (const TraceCall* its = current(member); its != nullptr && member != rank) {
        other = "meanwhile " + named(member, *its) + " waits";
        break;
      }
    return named(rank, call) + " would deadlock: " + other;
  }

  const std::vector<std::vector<TraceCall>>& ranks_;
  const TrafficSplit& split_;
  std::vector<std::size_t> next_;  // operation of each rank
  std::vector<TrafficPlace> places_ = {};
  std::map<std::pair<TrafficGroup, int>, std::vector<int>> members_ = {};
  std::map<Channel, std::deque<Message>> sent_ = {};
  std::map<std::pair<TrafficGroup, int>, Outbox> outboxes_ = {};
  std::string why_;
};

}  // namespace

std::vector<TraceCall> trace_calls(const StepSchedule& schedule) {
  std::vector<TraceCall> calls;
  for (const TrafficOp& op : schedule.ops)
    if (op.kind != TrafficKind::compute)
      calls.push_back({op.kind, op.group, op.peer, op.elements, op.node});
  return calls;
}

std::string to_text(const std::vector<TraceCall>& calls) {
  fmt::memory_buffer text;
  for (const TraceCall& call : calls)
    fmt::format_to(std::back_inserter(text), "{} {} {} {} {} ", static_cast<int>(call.kind),
                   static_cast<int>(call.group), call.peer, call.elements, call.node);
  return fmt::to_string(text);
}

std::vector<TraceCall> trace_calls_from(std::string_view text) {
  std::vector<TraceCall> calls;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc{} || next == end || *next != ' ')
      throw Error(ErrorKind::internal, "a rank's list of operations is damaged");
    at = next + 1;
  };
  while (at != end) {
    TraceCall& call = calls.emplace_back();
    int kind = 0, group = 0;
    number(kind);
    number(group);
    number(call.peer);
    number(call.elements);
    number(call.node);
    call.kind = static_cast<TrafficKind>(kind);
    call.group = static_cast<TrafficGroup>(group);
  }
  return calls;
}

std::string trace_mismatch(const std::vector<std::vector<TraceCall>>& ranks,
                           const TrafficSplit& split) {
  return TraceMeeting(ranks, split).mismatch();
}

std::string trace_mismatch(Group& all, const StepSchedule& schedule, const TrafficSplit& split) {
  const std::string own = to_text(trace_calls(schedule));
  const double bytes = total(all, static_cast<double>(own.size()));
  if (bytes > kMostTraceText)
    return fmt::format("the traces of {} ranks have too many operations to be checked", all.size());
  const std::vector<std::string> texts = all.gather(own);
  std::string why;
  if (all.rank() == 0) {
    std::vector<std::vector<TraceCall>> ranks;
    for (const std::string& text : texts) ranks.push_back(trace_calls_from(text));
    why = trace_mismatch(ranks, split);
  }
  return broadcast_text(all, why);
}

}  // namespace bench
