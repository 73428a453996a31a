#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "probes/backends/tcp/frame.h"
#include "probes/backends/tcp/meeting.h"
#include "probes/backends/tcp/tcp_ends.h"

namespace bench {
namespace {

using Bytes = std::span<const std::byte>;

class Outer final : public TcpGroup {
 public:
  explicit Outer(const Rendezvous& rendezvous)
      : TcpGroup(rendezvous.rank, rendezvous.size), rank_0_(join_rank_0(rendezvous)) {}

  void barrier() override {
    say_to_0(GroupOp::barrier, {});
    hear_from_0(GroupOp::barrier, 0);
  }

  void broadcast(std::span<std::byte> data, int root) override {
    if (root == rank()) return say_to_0(GroupOp::broadcast, data);
    const auto heard = hear_from_0(GroupOp::broadcast, data.size());
    std::ranges::copy(heard, data.begin());
  }

  std::vector<std::string> gather(const std::string& text) override {
    say_to_0(GroupOp::gather, std::as_bytes(std::span(text)));
    return {};
  }

 private:
  void reduce(std::span<double> values, Combine) override {
    say_to_0(GroupOp::reduce, std::as_bytes(values));
    const auto heard = hear_from_0(GroupOp::reduce, values.size_bytes());
    std::ranges::copy(heard, std::as_writable_bytes(values).begin());
  }

  /// What rank 0 said before it went tells more than that it went.
  void say_to_0(GroupOp op, Bytes data) {
    if (!send_frame(rank_0_.socket, op, data)) hear_from_0(op, data.size());
  }

  std::vector<std::byte> hear_from_0(GroupOp op, std::size_t bytes) {
    FrameReader reader;
    std::optional<Frame> frame;
    try {
      while (!(frame = reader.advance(rank_0_.socket))) {
        pollfd wait{rank_0_.socket.get(), POLLIN, 0};
        poll(&wait, 1, -1);
      }
    } catch (const Error& error) {
      throw Error(ErrorKind::environment, fmt::format("lost rank 0 on {}: {}",
                                                      printable(rank_0_.host), error.what()));
    }
    if (frame->op == GroupOp::give_up)
      throw Error(ErrorKind::environment, printable(as_text(frame->data)));
    if (frame->op != op || frame->data.size() != bytes)
      throw Error(
          ErrorKind::environment,
          fmt::format("rank 0 is in {} of {} bytes, but rank {} is in {} of {}", to_string(frame->op),
                      frame->data.size(), rank(), to_string(op), bytes));
    return std::move(frame->data);
  }

  Member rank_0_;
};

}  // namespace

std::unique_ptr<Group> make_outer_rank(const Rendezvous& rendezvous) {
  return std::make_unique<Outer>(rendezvous);
}

}  // namespace bench
