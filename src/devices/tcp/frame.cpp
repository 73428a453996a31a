#include "devices/tcp/frame.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/names.h"
#include "core/secret.h"

namespace bench {
namespace {

constexpr std::uint64_t kMostFrame = 256u << 20;  // bytes
constexpr std::uint32_t kMagic = 0x70726742;      // "Bgrp"

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

std::string mac_of(std::string_view key, std::uint64_t number, std::span<const std::byte> frame) {
  return Hmac(key).add(std::as_bytes(std::span(&number, 1))).add(frame).digest();
}

Header header_of(std::span<const std::byte> frame) {
  Header header;
  std::memcpy(&header, frame.data(), sizeof header);
  return header;
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string_view to_string(GroupOp op) { return kOps.name(op); }

std::vector<std::byte> FrameWriter::next(GroupOp op, std::span<const std::byte> data) {
  Header header;
  header.op = static_cast<std::uint32_t>(op);
  header.bytes = data.size();
  // One piece: two small ones would be two packets.
  std::vector<std::byte> frame(sizeof header + data.size());
  frame.reserve(frame.size() + Hmac::kBytes);
  std::memcpy(frame.data(), &header, sizeof header);
  std::ranges::copy(data, frame.begin() + sizeof header);
  const std::string mac = mac_of(key_, number_++, frame);
  std::ranges::copy(std::as_bytes(std::span(mac)), std::back_inserter(frame));
  return frame;
}

std::optional<Frame> FrameReader::take(std::span<const std::byte> bytes) {
  received_.insert(received_.end(), bytes.begin(), bytes.end());
  if (missing() > 0) return {};
  if (wanted_ > kHeader) return checked();
  const Header header = header_of(received_);
  const bool known = header.op >= 1 && header.op <= static_cast<std::uint32_t>(GroupOp::give_up);
  if (header.magic != kMagic || !known || header.bytes > kMostFrame)
    throw Error(ErrorKind::environment, "invalid frame header");
  wanted_ += static_cast<std::size_t>(header.bytes) + Hmac::kBytes;
  return {};
}

Frame FrameReader::checked() {
  const std::span<const std::byte> all(received_);
  const auto signed_part = all.first(all.size() - Hmac::kBytes);
  if (!same_secret(mac_of(key_, number_++, signed_part), characters(all.last(Hmac::kBytes))))
    throw Error(ErrorKind::environment, "a frame without the group's signature");
  Frame frame{static_cast<GroupOp>(header_of(all).op), {}};
  frame.data.assign(signed_part.begin() + kHeader, signed_part.end());
  received_.clear();
  wanted_ = kHeader;
  return frame;
}

}  // namespace bench
