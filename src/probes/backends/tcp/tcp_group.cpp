#include "probes/backends/tcp/tcp_group.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/error.h"
#include "core/text.h"
#include "probes/backends/tcp/frame.h"
#include "probes/backends/tcp/meeting.h"
#include "probes/backends/tcp/tcp_ends.h"

namespace bench {
namespace {

using Bytes = std::span<const std::byte>;

class RootGroup final : public TcpGroup {
 public:
  explicit RootGroup(const Rendezvous& rendezvous)
      : TcpGroup(0, rendezvous.size), peers_(accept_ranks(rendezvous)) {}

  void barrier() override {
    collect(GroupOp::barrier);
    send_to_all(GroupOp::barrier, {});
  }

  void broadcast(std::span<std::byte> data, int root) override {
    if (root == 0) return send_to_all(GroupOp::broadcast, data);
    const auto from = static_cast<std::size_t>(root);
    const auto frames = collect(GroupOp::broadcast, [&](std::size_t rank) { return rank == from; });
    expect_size(from, GroupOp::broadcast, frames[from], data.size());
    std::ranges::copy(frames[from], data.begin());
    send_to_all(GroupOp::broadcast, data, from);
  }

  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> texts = {text};
    const auto frames = collect(GroupOp::gather);
    for (std::size_t rank = 1; rank < frames.size(); ++rank) texts.push_back(as_text(frames[rank]));
    return texts;
  }

 private:
  using Parts = std::vector<std::vector<std::byte>>;

  /// In the order of the ranks, so that a sum has the same bits each time.
  void reduce(std::span<double> values, Combine combine) override {
    const Parts parts = collect(GroupOp::reduce);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      expect_size(rank, GroupOp::reduce, parts[rank], values.size_bytes());
      for (std::size_t i = 0; i < values.size(); ++i) {
        double other = 0.0;
        std::memcpy(&other, parts[rank].data() + i * sizeof other, sizeof other);
        values[i] = combine(values[i], other);
      }
    }
    send_to_all(GroupOp::reduce, std::as_bytes(values));
  }

  /// One frame of each rank (or of those asked), whoever comes first: one that has died is noticed
  /// while others are still waited for.
  Parts collect(GroupOp op, const std::function<bool(std::size_t)>& asked = {}) {
    Parts parts(peers_.size());
    std::vector<std::size_t> missing;
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (!asked || asked(rank)) missing.push_back(rank);
    std::vector<FrameReader> readers(peers_.size());
    for (;;) {
      std::erase_if(missing, [&](std::size_t rank) {
        auto frame = advance(readers[rank], rank);
        if (!frame) return false;
        if (frame->op != op)
          give_up(fmt::format("{} is in {}, but rank 0 is in {}", name(rank), to_string(frame->op),
                              to_string(op)));
        parts[rank] = std::move(frame->data);
        return true;
      });
      if (missing.empty()) return parts;
      std::vector<pollfd> waiting;
      for (const std::size_t rank : missing)
        waiting.push_back({peers_[rank].socket.get(), POLLIN, 0});
      poll(waiting.data(), waiting.size(), -1);
    }
  }

  std::optional<Frame> advance(FrameReader& reader, std::size_t rank) {
    try {
      return reader.advance(peers_[rank].socket);
    } catch (const Error& error) {
      fail_lost(rank, error.what());
    }
  }

  void send_to_all(GroupOp op, Bytes data, std::size_t except = 0) {
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (rank != except && !send_frame(peers_[rank].socket, op, data))
        fail_lost(rank, std::strerror(errno));
  }

  void expect_size(std::size_t rank, GroupOp op, Bytes data, std::size_t bytes) {
    if (data.size() != bytes)
      give_up(fmt::format("{} joins {} with {} bytes, but rank 0 with {}", name(rank),
                          to_string(op), data.size(), bytes));
  }

  std::string name(std::size_t rank) const {
    return fmt::format("rank {} on {}", rank, printable(peers_[rank].host));
  }

  [[noreturn]] void fail_lost(std::size_t rank, const std::string& why) {
    give_up(fmt::format("lost {}: {}", name(rank), why));
  }

  /// Ends the group on all ranks, with the reason.
  [[noreturn]] void give_up(const std::string& reason) {
    for (const Peer& member : peers_)
      if (member.socket.valid())
        send_frame(member.socket, GroupOp::give_up, std::as_bytes(std::span(reason)));
    throw Error(ErrorKind::environment, reason);
  }

  std::vector<Peer> peers_;
};

}  // namespace

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double added(double a, double b) { return a + b; }

std::string as_text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

std::unique_ptr<Group> make_tcp_group(const Rendezvous& rendezvous) {
  if (rendezvous.rank == 0) return std::make_unique<RootGroup>(rendezvous);
  return make_non_root(rendezvous);
}

}  // namespace bench
