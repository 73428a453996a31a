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

  /// What rank 0 said before it went tells more than that it went.
  void send_to_root(GroupOp op, Bytes data) {
    if (!send_frame(root_.socket, op, data)) receive_from_root(op, data.size());
  }

  std::vector<std::byte> receive_from_root(GroupOp op, std::size_t bytes) {
    FrameReader reader;
    std::optional<Frame> frame;
    try {
      while (!(frame = reader.advance(root_.socket))) {
        pollfd wait{root_.socket.get(), POLLIN, 0};
        poll(&wait, 1, -1);
      }
    } catch (const Error& error) {
      throw Error(ErrorKind::environment, fmt::format("lost rank 0 on {}: {}",
                                                      printable(root_.host), error.what()));
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

  Peer root_;
};

}  // namespace

std::unique_ptr<Group> make_non_root(const Rendezvous& rendezvous) {
  return std::make_unique<NonRootGroup>(rendezvous);
}

}  // namespace bench
