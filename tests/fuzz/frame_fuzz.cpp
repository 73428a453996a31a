// What comes on a connection of ranks: a stranger's bytes are read without harm and never taken for
// a frame, frames of the group are read as they were sent, and a changed one is not accepted.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/error.h"
#include "devices/tcp/frame.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;
using Bytes = std::span<const std::byte>;

/// All frames up to the first error, in pieces of this size.
std::vector<bench::Frame> frames_in(Bytes bytes, std::size_t piece) {
  bench::FrameReader reader("key");
  std::vector<bench::Frame> frames;
  try {
    while (!bytes.empty()) {
      demand(reader.missing() > 0, "a reader that never ends");
      const Bytes part = bytes.first(std::min({piece, bytes.size(), reader.missing()}));
      bytes = bytes.subspan(part.size());
      if (auto frame = reader.take(part)) frames.push_back(std::move(*frame));
    }
  } catch (const bench::Error&) {
  }
  return frames;
}

void try_own(Bytes data, std::size_t piece, bench::GroupOp op) {
  bench::FrameWriter writer("key");
  std::vector<std::byte> sent = writer.next(op, data);
  const std::size_t first = sent.size();
  const auto more = writer.next(bench::GroupOp::barrier, {});
  sent.insert(sent.end(), more.begin(), more.end());
  const auto frames = frames_in(sent, piece);
  demand(frames.size() == 2 && frames[0].op == op && std::ranges::equal(frames[0].data, data),
         "a frame changes");
  sent[piece % first] ^= std::byte{1};
  demand(frames_in(sent, piece).empty(), "a changed frame is accepted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes all = std::as_bytes(std::span(data, size));
  const std::size_t piece = 1u + data[0];
  demand(frames_in(all, piece).empty() && frames_in(all.subspan(1), piece).empty(),
         "a stranger's frame is accepted");
  try_own(all.subspan(1), piece, static_cast<bench::GroupOp>(1 + data[0] % 5));
  return 0;
}
