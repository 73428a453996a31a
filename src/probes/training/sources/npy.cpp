#include "probes/training/sources/npy.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "probes/training/sources/little_endian.h"

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
    refuse(name, "not a NumPy array: wrong magic at offset 0",
           "save it with numpy.save");
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
    refuse(name, fmt::format("a header of {} bytes exceeds the {} bytes of the file", length, bytes.size()),
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
  constexpr std::size_t kUnsigned = 10;  // set apart from the signed ones
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

}  // namespace bench::training
