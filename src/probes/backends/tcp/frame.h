// What joined ranks send each other: a header that says which operation a rank is in, and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"

namespace bench {

/// The values are those of the wire.
enum class GroupOp : std::uint32_t { barrier = 1, broadcast, reduce, gather, give_up };
std::string_view to_string(GroupOp op);

inline constexpr std::uint64_t kMostFrame = 256u << 20;  // bytes

struct Frame {
  GroupOp op = GroupOp::barrier;
  std::vector<std::byte> data;
};

/// One frame as it comes in, piece by piece.
class FrameReader {
 public:
  /// Takes what there is; the frame once it is whole. Throws Error(environment) when the peer is
  /// gone ("closed the connection", "Connection reset by peer") or sends what is no frame.
  std::optional<Frame> advance(const Descriptor& socket);

 private:
  std::vector<std::byte> header_, data_;
  std::size_t wanted_ = 0;
  GroupOp op_ = GroupOp::barrier;
};

/// False when the peer is gone.
bool send_frame(const Descriptor& socket, GroupOp op, std::span<const std::byte> data);

}  // namespace bench
