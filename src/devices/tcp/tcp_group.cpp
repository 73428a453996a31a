#include "devices/tcp/tcp_group.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/text.h"
#include "devices/group.h"
#include "devices/tcp/frame.h"
#include "devices/tcp/meeting.h"
#include "devices/tcp/rendezvous.h"
#include "devices/tcp/tcp_socket.h"

namespace bench {
namespace {

/// A connection to another rank, and the frames on it.
class Link {
 public:
  explicit Link(Peer peer)
      : host_(std::move(peer.host)),
        socket_(std::move(peer.socket)),
        writer_(std::move(peer.send_key)),
        reader_(std::move(peer.receive_key)) {}

  const std::string& host() const { return host_; }
  bool connected() const { return socket_.valid(); }
  pollfd readable() const { return {socket_.get(), POLLIN, 0}; }

  /// False if the peer is gone.
  bool send(GroupOp op, std::span<const std::byte> data) {
    return send_all(socket_, writer_.next(op, data));
  }

  /// The frame once it is complete. Throws Error(environment) if the peer is gone or sends what no
  /// rank sends.
  std::optional<Frame> receive() {
    for (;;) {
      std::array<std::byte, 65536> some;
      const std::size_t room = std::min(some.size(), reader_.missing());
      const std::ptrdiff_t got = receive_some(socket_, std::span(some).first(room));
      if (got == 0) return {};
      if (got < 0)
        throw Error(ErrorKind::environment,
                    errno == 0 ? "connection closed" : std::strerror(errno));
      auto frame = reader_.take(std::span(some).first(static_cast<std::size_t>(got)));
      if (frame) return frame;
    }
  }

 private:
  std::string host_;
  Descriptor socket_;
  FrameWriter writer_;
  FrameReader reader_;
};

using Combine = double (*)(double, double);

/// NaN if either is.
double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double added(double a, double b) { return a + b; }

std::string as_text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

/// Common to rank 0, in the centre, and the others.
class TcpGroup : public Group {
 public:
  TcpGroup(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void max(std::span<double> values) override { reduce(values, larger); }
  void sum(std::span<double> values) override { reduce(values, added); }
  std::string library() const override { return "TCP"; }

 protected:
  virtual void reduce(std::span<double> values, Combine combine) = 0;

 private:
  int rank_, size_;
};

using Bytes = std::span<const std::byte>;

class NonRootGroup final : public TcpGroup {
 public:
  explicit NonRootGroup(const Rendezvous& rendezvous)
      : TcpGroup(rendezvous.rank, rendezvous.size), root_(connect_to_root(rendezvous)) {}

  void barrier() override {
    send_to_root(GroupOp::barrier, {});
    receive_from_root(GroupOp::barrier, 0);
  }

  void broadcast(std::span<std::byte> data, int root) override {
    if (root == rank()) return send_to_root(GroupOp::broadcast, data);
    const auto heard = receive_from_root(GroupOp::broadcast, data.size());
    std::ranges::copy(heard, data.begin());
  }

  std::vector<std::string> gather(const std::string& text) override {
    send_to_root(GroupOp::gather, std::as_bytes(std::span(text)));
    return {};
  }

 private:
  void reduce(std::span<double> values, Combine) override {
    send_to_root(GroupOp::reduce, std::as_bytes(values));
    const auto heard = receive_from_root(GroupOp::reduce, values.size_bytes());
    std::ranges::copy(heard, std::as_writable_bytes(values).begin());
  }

  /// A last message of rank 0 says more than a failed send.
  void send_to_root(GroupOp op, Bytes data) {
    if (!root_.send(op, data)) receive_from_root(op, data.size());
  }

  std::vector<std::byte> receive_from_root(GroupOp op, std::size_t bytes) {
    std::optional<Frame> frame;
    try {
      while (!(frame = root_.receive())) {
        pollfd wait = root_.readable();
        poll(&wait, 1, -1);
      }
    } catch (const Error& error) {
      throw Error(ErrorKind::environment,
                  fmt::format("lost rank 0 on {}: {}", printable(root_.host()), error.what()));
    }
    if (frame->op == GroupOp::give_up)
      throw Error(ErrorKind::environment, printable(as_text(frame->data)));
    if (frame->op != op || frame->data.size() != bytes)
      throw Error(
          ErrorKind::environment,
          fmt::format("rank 0 is in {} of {} bytes, but rank {} is in {} of {}",
                      to_string(frame->op), frame->data.size(), rank(), to_string(op), bytes));
    return std::move(frame->data);
  }

  Link root_;
};

class RootGroup final : public TcpGroup {
 public:
  explicit RootGroup(const Rendezvous& rendezvous) : TcpGroup(0, rendezvous.size) {
    for (Peer& peer : accept_ranks(rendezvous)) peers_.emplace_back(std::move(peer));
  }

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

  /// In rank order, so that sums are reproducible to the bit.
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

  /// One frame of each rank (or those selected) in any order: a dead rank is noticed while others
  /// are still awaited.
  Parts collect(GroupOp op, const std::function<bool(std::size_t)>& asked = {}) {
    Parts parts(peers_.size());
    std::vector<std::size_t> missing;
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (!asked || asked(rank)) missing.push_back(rank);
    for (;;) {
      std::erase_if(missing, [&](std::size_t rank) {
        auto frame = receive(rank);
        if (!frame) return false;
        if (frame->op != op)
          give_up(fmt::format("{} is in {}, but rank 0 is in {}", name(rank), to_string(frame->op),
                              to_string(op)));
        parts[rank] = std::move(frame->data);
        return true;
      });
      if (missing.empty()) return parts;
      std::vector<pollfd> waiting;
      for (const std::size_t rank : missing) waiting.push_back(peers_[rank].readable());
      poll(waiting.data(), waiting.size(), -1);
    }
  }

  std::optional<Frame> receive(std::size_t rank) {
    try {
      return peers_[rank].receive();
    } catch (const Error& error) {
      fail_lost(rank, error.what());
    }
  }

  void send_to_all(GroupOp op, Bytes data, std::size_t except = 0) {
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (rank != except && !peers_[rank].send(op, data)) fail_lost(rank, std::strerror(errno));
  }

  void expect_size(std::size_t rank, GroupOp op, Bytes data, std::size_t bytes) {
    if (data.size() != bytes)
      give_up(fmt::format("{} joins {} with {} bytes, but rank 0 with {}", name(rank),
                          to_string(op), data.size(), bytes));
  }

  std::string name(std::size_t rank) const {
    return fmt::format("rank {} on {}", rank, printable(peers_[rank].host()));
  }

  [[noreturn]] void fail_lost(std::size_t rank, const std::string& why) {
    give_up(fmt::format("lost {}: {}", name(rank), why));
  }

  /// Ends the group on all ranks, with the reason.
  [[noreturn]] void give_up(const std::string& reason) {
    for (Link& member : peers_)
      if (member.connected()) member.send(GroupOp::give_up, std::as_bytes(std::span(reason)));
    throw Error(ErrorKind::environment, reason);
  }

  std::vector<Link> peers_;
};

}  // namespace

std::unique_ptr<Group> make_tcp_group(const Rendezvous& rendezvous) {
  if (rendezvous.rank == 0) return std::make_unique<RootGroup>(rendezvous);
  return std::make_unique<NonRootGroup>(rendezvous);
}

}  // namespace bench
