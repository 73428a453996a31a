#include "probes/backends/tcp/frame.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/names.h"
#include "probes/backends/tcp/tcp_socket.h"

namespace bench {
namespace {

constexpr std::uint32_t kMagic = 0x70726742;  // "Bgrp"

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t op = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 16);

constexpr NameTable<GroupOp, 5> kOps{{{{GroupOp::barrier, "a barrier"},
                                       {GroupOp::broadcast, "a broadcast"},
                                       {GroupOp::reduce, "a reduction"},
                                       {GroupOp::gather, "a gather"},
                                       {GroupOp::give_up, "abort"}}}};

/// Up to `wanted` bytes in all; true when they are there.
bool fill(const Descriptor& socket, std::vector<std::byte>& into, std::size_t wanted) {
  while (into.size() < wanted) {
    std::array<std::byte, 65536> some;
    const std::size_t room = std::min(some.size(), wanted - into.size());
    const std::ptrdiff_t got = receive_some(socket, std::span(some).first(room));
    if (got == 0) return false;
    if (got < 0)
      throw Error(ErrorKind::environment,
                  errno == 0 ? "connection closed" : std::strerror(errno));
    into.insert(into.end(), some.begin(), some.begin() + got);
  }
  return true;
}

}  // namespace

std::string_view to_string(GroupOp op) { return kOps.name(op); }

std::optional<Frame> FrameReader::advance(const Descriptor& socket) {
  if (header_.size() < sizeof(Header)) {
    if (!fill(socket, header_, sizeof(Header))) return {};
    Header header;
    std::memcpy(&header, header_.data(), sizeof header);
    const bool known = header.op >= 1 && header.op <= static_cast<std::uint32_t>(GroupOp::give_up);
    if (header.magic != kMagic || !known || header.bytes > kMostFrame)
      throw Error(ErrorKind::environment, "invalid frame header");
    op_ = static_cast<GroupOp>(header.op);
    wanted_ = static_cast<std::size_t>(header.bytes);
  }
  if (!fill(socket, data_, wanted_)) return {};
  header_.clear();
  return Frame{op_, std::exchange(data_, {})};
}

bool send_frame(const Descriptor& socket, GroupOp op, std::span<const std::byte> data) {
  Header header;
  header.op = static_cast<std::uint32_t>(op);
  header.bytes = data.size();
  // One piece: two small ones would be two packets.
  std::vector<std::byte> whole(sizeof header + data.size());
  std::memcpy(whole.data(), &header, sizeof header);
  std::ranges::copy(data, whole.begin() + sizeof header);
  return send_all(socket, whole);
}

}  // namespace bench
