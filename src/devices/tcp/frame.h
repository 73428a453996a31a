// Frames between rank 0 and another rank after their handshake: header, data, and a MAC of both and
// of the frame's number, with a key that only the two have. Whoever relays the connection can end
// it, but neither change, repeat, reorder nor add a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The operation of a frame; the values are part of the protocol.
enum class GroupOp : std::uint32_t { barrier = 1, broadcast, reduce, gather, give_up };

std::string_view to_string(GroupOp op);

struct Frame {
  GroupOp op = GroupOp::barrier;
  std::vector<std::byte> data;
};

/// One direction of a connection, on the side that sends.
class FrameWriter {
 public:
  explicit FrameWriter(std::string key = {}) : key_(std::move(key)) {}
  /// The next frame as it is sent.
  std::vector<std::byte> next(GroupOp op, std::span<const std::byte> data);

 private:
  std::string key_;
  std::uint64_t number_ = 0;
};

/// One direction of a connection, on the side that receives; piece by piece.
class FrameReader {
 public:
  explicit FrameReader(std::string key = {}) : key_(std::move(key)) {}
  /// Bytes that it can take now; never 0.
  std::size_t missing() const { return wanted_ - received_.size(); }
  /// `bytes`: at most missing(). The frame once it is complete. Throws Error(environment) for a
  /// header or a MAC that no rank of this group sends.
  std::optional<Frame> take(std::span<const std::byte> bytes);

 private:
  static constexpr std::size_t kHeader = 16;  // bytes

  Frame checked();

  std::string key_;
  std::uint64_t number_ = 0;
  std::vector<std::byte> received_;
  std::size_t wanted_ = kHeader;
};

}  // namespace bench
