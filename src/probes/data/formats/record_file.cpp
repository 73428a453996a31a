#include "probes/data/formats/record_file.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "training/sources/byte_reader.h"

namespace bench::data {
namespace {

constexpr std::string_view kMagic = "BENCHREC";
constexpr std::uint64_t kHead = 24;

[[noreturn]] void damaged_records(const std::string& path, std::uint64_t offset,
                                  const std::string& what) {
  throw Error(ErrorKind::input, fmt::format("{}, offset {}: {}", printable(path), offset, what),
              "the file is damaged, truncated or not a record file: generate or copy it again");
}

template <class Number>
void append(std::vector<std::byte>& to, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

}  // namespace

std::vector<std::uint64_t> record_index(const ReadAt& read, std::uint64_t size,
                                        const std::string& path) {
  std::array<std::byte, kHead> head{};
  if (size < kHead) damaged_records(path, 0, fmt::format("{} bytes, less than a header", size));
  read(0, head);
  if (std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0)
    damaged_records(path, 0, "no BENCHREC magic");
  const auto version = training::little_endian<std::uint32_t>(head.data() + 8);
  if (version != 1) damaged_records(path, 8, fmt::format("version {}, expected 1", version));
  const auto count = training::little_endian<std::uint64_t>(head.data() + 16);
  if (count >= (size - kHead) / 8)
    damaged_records(path, 16, fmt::format("{} records in a file of {} bytes", count, size));
  std::vector<std::byte> raw((count + 1) * 8);
  read(kHead, raw);
  std::vector<std::uint64_t> starts(count + 1);
  std::uint64_t least = kHead + raw.size();
  for (std::uint64_t i = 0; i <= count; ++i) {
    starts[i] = training::little_endian<std::uint64_t>(raw.data() + 8 * i);
    if (starts[i] < least || starts[i] > size)
      damaged_records(
          path, kHead + 8 * i,
          fmt::format("record {} starts at {}, expected {} to {}", i, starts[i], least, size));
    least = starts[i] + (i < count ? kRecordLabelBytes : 0);
  }
  return starts;
}

std::vector<std::byte> record_head(std::span<const std::uint64_t> payload_bytes) {
  std::vector<std::byte> head;
  head.reserve(kHead + 8 * (payload_bytes.size() + 1));
  for (const char c : kMagic) head.push_back(static_cast<std::byte>(c));
  append(head, std::uint32_t{1});
  append(head, std::uint32_t{0});
  append(head, std::uint64_t{payload_bytes.size()});
  std::uint64_t at = kHead + 8 * (payload_bytes.size() + 1);
  for (const std::uint64_t bytes : payload_bytes) {
    append(head, at);
    at += kRecordLabelBytes + bytes;
  }
  append(head, at);
  return head;
}

}  // namespace bench::data
