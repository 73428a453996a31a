#include "probes/training/sources/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/error.h"
#include "core/text.h"
#include "probes/training/sources/byte_reader.h"

namespace bench::training {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number is in the zip64 record
constexpr std::uint16_t kStored = 0, kDeflated = 8;
constexpr std::uint64_t kEntryBytes = 46, kEndBytes = 22, kLocatorBytes = 20;
constexpr std::uint64_t kMostComment = 65535;
constexpr std::uint64_t kMostDeflateRatio = 1032;  // largest expansion by zlib

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::input, path + ": " + what,
              "recreate it with numpy.savez or copy it again");
}

/// The record at the end; a comment may follow it.
std::uint64_t find_end(std::span<const std::byte> bytes, const std::string& path) {
  if (bytes.size() < kEndBytes) damaged(path, "too short for a zip archive");
  const std::uint64_t last = bytes.size() - kEndBytes;
  const std::uint64_t first = last > kMostComment ? last - kMostComment : 0;
  for (std::uint64_t at = last + 1; at-- > first;)
    if (little_endian<std::uint32_t>(bytes.data() + at) == kEnd) return at;
  damaged(path, "not a zip archive: no central directory at the end");
}

struct Directory {
  std::uint64_t members, offset;
};

Directory find_directory(const ByteReader& file, std::uint64_t end, const std::string& path) {
  Directory directory{file.number<std::uint16_t>(end + 10), file.number<std::uint32_t>(end + 16)};
  if (end >= kLocatorBytes && file.number<std::uint32_t>(end - kLocatorBytes) == kLocator64) {
    const auto at = file.number<std::uint64_t>(end - kLocatorBytes + 8);
    if (file.number<std::uint32_t>(at) != kEnd64)
      damaged(path, fmt::format("no zip64 record at offset {}", at));
    file.slice(at, 56);
    return {file.number<std::uint64_t>(at + 32), file.number<std::uint64_t>(at + 48)};
  }
  return directory;
}

/// Replaces the sizes and offset that did not fit, in their order, by those of the extra field 1.
void read_extra64(const ByteReader& file, std::uint64_t at, std::uint64_t size,
                  std::initializer_list<std::uint64_t*> numbers) {
  const std::uint64_t end = at + size;
  while (at + 4 <= end) {
    const auto id = file.number<std::uint16_t>(at);
    const std::uint64_t next = at + 4 + file.number<std::uint16_t>(at + 2);
    at += 4;
    for (std::uint64_t* number : numbers) {
      if (id != 1 || *number != kIn64 || at + 8 > std::min(next, end)) continue;
      *number = file.number<std::uint64_t>(at);
      at += 8;
    }
    at = next;
  }
}

struct InflateEnd {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

/// Raw deflate of `packed` into all of `out`; false where it is damaged or of another size.
bool unpack(std::span<const std::byte> packed, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw Error(ErrorKind::environment, "zlib cannot start inflating");
  const std::unique_ptr<z_stream, InflateEnd> closed(&stream);
  constexpr std::uint64_t kMost = std::numeric_limits<uInt>::max();
  std::uint64_t taken = 0, given = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::uint64_t in = std::min<std::uint64_t>(packed.size() - taken, kMost);
    const std::uint64_t room = std::min<std::uint64_t>(out.size() - given, kMost);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + given);
    stream.avail_out = static_cast<uInt>(room);
    state = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    given += room - stream.avail_out;
  }
  return state == Z_STREAM_END && given == out.size();
}

}  // namespace

NpzFile::NpzFile(std::span<const std::byte> bytes, const std::string& path)
    : bytes_(bytes), path_(path) {
  const ByteReader file(bytes_, path_);
  const auto [count, offset] = find_directory(file, find_end(bytes, path), path);
  std::uint64_t at = offset;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (file.number<std::uint32_t>(at) != kEntry)
      damaged(path_,
              fmt::format("no directory entry at offset {} for member {} of {}", at, i, count));
    file.slice(at, kEntryBytes);
    const auto name = file.number<std::uint16_t>(at + 28),
               extra = file.number<std::uint16_t>(at + 30),
               comment = file.number<std::uint16_t>(at + 32);
    Member member{.name = file.text(at + kEntryBytes, name),
                  .flags = file.number<std::uint16_t>(at + 8),
                  .method = file.number<std::uint16_t>(at + 10),
                  .checksum = file.number<std::uint32_t>(at + 16),
                  .packed = file.number<std::uint32_t>(at + 20),
                  .size = file.number<std::uint32_t>(at + 24),
                  .header = file.number<std::uint32_t>(at + 42)};
    read_extra64(file, at + kEntryBytes + name, extra,
                 {&member.size, &member.packed, &member.header});
    if (member.name.ends_with(".npy")) member.name.resize(member.name.size() - 4);
    members_.push_back(std::move(member));
    at += kEntryBytes + name + extra + comment;
  }
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const Member& member : members_) names.push_back(member.name);
  return names;
}

const NpzFile::Member* NpzFile::find(const std::string& name) const {
  const auto found = std::ranges::find(members_, name, &Member::name);
  return found == members_.end() ? nullptr : &*found;
}

bool NpzFile::has(const std::string& name) const { return find(name) != nullptr; }

std::span<const std::byte> NpzFile::packed(const Member& member) const {
  const ByteReader file(bytes_, path_);
  if (file.number<std::uint32_t>(member.header) != kLocal)
    damaged(path_, fmt::format("no member '{1}' at offset {0}", member.header,
                               printable(member.name)));
  // The local header's own sizes may be 0 or "in zip64": use those of the central directory.
  const std::uint64_t names = std::uint64_t{file.number<std::uint16_t>(member.header + 26)} +
                              file.number<std::uint16_t>(member.header + 28);
  return file.slice(member.header + 30 + names, member.packed);
}

NpyArray NpzFile::array(const std::string& name) {
  const std::string what = fmt::format("{}: array '{}'", path_, printable(name));
  const Member* member = find(name);
  if (member == nullptr) {
    std::vector<std::string> there;
    for (const std::string& other : names()) there.push_back(printable(other));
    throw Error(ErrorKind::input, what + " not found", "available: " + join(there, ", "));
  }
  const bool deflated = member->method == kDeflated;
  if ((member->flags & 1) != 0 || (!deflated && member->method != kStored))
    damaged(what, fmt::format("unsupported compression method {}, flags {:#x}",
                              member->method, member->flags));
  std::span<const std::byte> data = packed(*member);
  if (deflated) {
    if (member->size / kMostDeflateRatio > data.size() + 1)
      damaged(what, fmt::format("{} bytes cannot decompress to {}", data.size(), member->size));
    std::vector<std::byte> unpacked(member->size);
    if (!unpack(data, unpacked))
      damaged(what, fmt::format("its {} bytes do not decompress to {}", data.size(), member->size));
    data = unpacked_.emplace_back(std::move(unpacked));
  }
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
  if (data.size() != member->size || checksum != member->checksum)
    damaged(what, fmt::format("{} bytes with CRC {:08x}, but the directory states {} and {:08x}",
                              data.size(), checksum, member->size, member->checksum));
  return read_npy(data, what);
}

}  // namespace bench::training
