#include "training/sources/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostDimensions = 32;

[[noreturn]] void refuse(const std::string& name, const std::string& what,
                         const std::string& hint) {
  throw Error(ErrorKind::input, name + ": " + what, hint);
}

/// The dictionary before the data, and the data.
struct Parts {
  std::string_view header;
  std::span<const std::byte> data;
};

Parts split_header(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || bytes.size() < 10)
    refuse(name, "not a NumPy array: wrong magic at offset 0", "save it with numpy.save");
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3)
    refuse(name, fmt::format("unsupported format version {} at offset 6", version),
           "use versions 1 to 3");
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) refuse(name, "truncated inside the header", "copy it again");
  const std::uint64_t length = version == 1
                                   ? std::uint64_t{little_endian<std::uint16_t>(bytes.data() + 8)}
                                   : std::uint64_t{little_endian<std::uint32_t>(bytes.data() + 8)};
  if (length > bytes.size() - start)
    refuse(
        name,
        fmt::format("a header of {} bytes exceeds the {} bytes of the file", length, bytes.size()),
        "the file is truncated: copy it again");
  return {text.substr(start, length), bytes.subspan(start + length)};
}

/// The text after 'key': in the dictionary, without leading blanks.
std::string_view value_of(std::string_view header, std::string_view key, const std::string& name) {
  const std::string quoted = fmt::format("'{}'", key);
  const auto at = header.find(quoted);
  auto rest = at == std::string_view::npos ? std::string_view() : header.substr(at + quoted.size());
  const auto begin = rest.find_first_not_of(" :");
  if (begin == std::string_view::npos || rest.substr(0, begin).find(':') == std::string_view::npos)
    refuse(name, fmt::format("the header has no {}: {}", quoted, printable(header.substr(0, 100))),
           "save it with numpy.save");
  return rest.substr(begin);
}

void set_type(NpyArray& array, std::string_view value, const std::string& name) {
  // '<f4', with its quotes
  const std::string_view type = value.substr(0, std::min<std::size_t>(5, value.size()));
  static constexpr std::string_view kKnown = " f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 ";
  const bool quoted = type.size() == 5 && type.front() == '\'' && type.back() == '\'';
  const bool known =
      quoted && kKnown.find(fmt::format(" {} ", type.substr(2, 2))) != std::string_view::npos;
  if (!known || (type[1] != '<' && !(type[1] == '|' && type[3] == '1')))
    refuse(name, fmt::format("unsupported element type {}", printable(type)),
           "convert them with numpy.astype to little-endian f4, f8, integers or bool");
  array.kind = type[2];
  array.width = static_cast<std::size_t>(type[3] - '0');
}

std::vector<std::uint64_t> parse_shape(std::string_view value, const std::string& name) {
  const auto bad = [&]() {
    refuse(name, "invalid shape " + printable(value.substr(0, 60)), "save it with numpy.save");
  };
  const auto close = value.find(')');
  if (!value.starts_with('(') || close == std::string_view::npos) bad();
  std::string_view rest = value.substr(1, close - 1);
  std::vector<std::uint64_t> shape;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty()) return shape;
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (error != std::errc() || shape.size() == kMostDimensions) bad();
    shape.push_back(size);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.empty() && rest.front() != ',') bad();
    if (!rest.empty()) rest.remove_prefix(1);
  }
}

/// Empty if it does not fit into 64 bits.
std::optional<std::uint64_t> bytes_of(const NpyArray& array) {
  std::uint64_t bytes = array.width;
  for (const std::uint64_t size : array.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return bytes;
}

template <class Number, class Bits>
double floating(const std::byte* from) {
  return std::bit_cast<Number>(little_endian<Bits>(from));
}

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

/// Inflates `packed` into all of `out`; false if it is damaged or of another size.
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

double NpyArray::number(std::uint64_t index) const {
  const std::byte* from = data.data() + index * width;
  if (kind == 'f')
    return width == 4 ? floating<float, std::uint32_t>(from)
                      : floating<double, std::uint64_t>(from);
  return static_cast<double>(integer(index));
}

std::int64_t NpyArray::integer(std::uint64_t index) const {
  const std::byte* from = data.data() + index * width;
  constexpr std::size_t kUnsigned = 10;  // added to distinguish them from signed ones
  switch (kind == 'i' ? width : kUnsigned + width) {
    case 1:
      return static_cast<std::int8_t>(little_endian<std::uint8_t>(from));
    case 2:
      return static_cast<std::int16_t>(little_endian<std::uint16_t>(from));
    case 4:
      return static_cast<std::int32_t>(little_endian<std::uint32_t>(from));
    case kUnsigned + 1:
      return little_endian<std::uint8_t>(from);
    case kUnsigned + 2:
      return little_endian<std::uint16_t>(from);
    case kUnsigned + 4:
      return little_endian<std::uint32_t>(from);
    default:
      return static_cast<std::int64_t>(little_endian<std::uint64_t>(from));
  }
}

NpyArray read_npy(std::span<const std::byte> bytes, const std::string& name) {
  const auto [header, data] = split_header(bytes, name);
  NpyArray array;
  set_type(array, value_of(header, "descr", name), name);
  if (!value_of(header, "fortran_order", name).starts_with("False"))
    refuse(name, "Fortran order is not supported (fortran_order)",
           "save it with numpy.save(numpy.ascontiguousarray(...))");
  array.shape = parse_shape(value_of(header, "shape", name), name);
  const auto promised = bytes_of(array);
  if (!promised || *promised != data.size())
    refuse(name,
           fmt::format("the shape requires {} bytes of data, but the file has {}",
                       promised ? std::to_string(*promised) : "too many", data.size()),
           "the file is truncated or has extra data: copy it again");
  array.data = data;
  return array;
}

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
    damaged(path_,
            fmt::format("no member '{1}' at offset {0}", member.header, printable(member.name)));
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
    damaged(what, fmt::format("unsupported compression method {}, flags {:#x}", member->method,
                              member->flags));
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
