#include "core/wire.h"

#include <fmt/format.h>
#include <zlib.h>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kChecksumDigits = 8;

[[noreturn]] void refuse_line(const std::string& why, std::string_view line) {
  const std::string start = printable(line.substr(0, 60));
  throw Error(ErrorKind::input,
              "damaged record: " + why + ": " + start + (line.size() > 60 ? "..." : ""));
}

}  // namespace

std::uint32_t checksum(std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

std::string frame(const Record& record) {
  const std::string json = dump(to_json(record));
  std::string line = fmt::format("{}{:08x} {}\n", kWireMarker, checksum(json), json);
  if (line.size() > kMaxLineBytes)
    throw Error(ErrorKind::internal,
                fmt::format("a record of {} bytes does not fit into a line of {}", line.size(),
                            kMaxLineBytes),
                "take fewer samples (measure.max_samples) or split the chunk");
  return line;
}

std::optional<Record> unframe(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  // A library may have printed text without a newline in front of the record.
  const auto start = line.find(kWireMarker);
  if (start == std::string_view::npos) return {};
  if (line.size() > kMaxLineBytes)
    refuse_line(fmt::format("a line of {} bytes", line.size()), line);
  const std::string_view ours = line.substr(start);
  const std::string_view rest = ours.substr(kWireMarker.size());
  const auto expected = parse_as<std::uint32_t>(rest.substr(0, kChecksumDigits), 16);
  if (rest.size() < kChecksumDigits + 1 || !expected || rest[kChecksumDigits] != ' ')
    refuse_line("no checksum", ours);
  const std::string_view json = rest.substr(kChecksumDigits + 1);
  if (const auto found = checksum(json); found != *expected)
    refuse_line(fmt::format("checksum is {:08x}, expected {:08x}", found, *expected), ours);
  return record_from_json(parse_json(json, "record"));
}

}  // namespace bench
