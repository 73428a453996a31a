#include "training/checkpoint/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "core/error.h"
#include "core/fields.h"
#include "core/text.h"
#include "training/engine/content_hash.h"
#include "training/engine/host_bytes.h"
#include "training/sources/byte_reader.h"

namespace bench::training {
namespace {

static_assert(std::endian::native == std::endian::little,
              "sections are written in native byte order");

Json described(const NamedView& section, std::uint64_t offset, std::uint64_t hash) {
  return {{"name", section.name},      {"dtype", to_string(section.view.dtype)},
          {"rows", section.view.rows}, {"columns", section.view.columns},
          {"offset", offset},          {"hash", hash_text(hash)}};
}

/// The header for sections that begin at `start`.
std::string header_of(const Json& meta, const std::vector<NamedView>& sections,
                      const std::vector<std::uint64_t>& hashes, std::uint64_t start) {
  Json list = Json::array();
  std::uint64_t offset = start;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    list.push_back(described(sections[i], offset, hashes[i]));
    offset = aligned_section(offset + byte_count(sections[i]));
  }
  return dump({{"meta", meta}, {"sections", list}});
}

template <class Number>
void append(std::string& text, Number number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

/// Magic, version, length and hash, the header, and zeros up to `start`.
std::string front_of(const std::string& header, std::uint64_t start) {
  std::string front(kCheckpointMagic);
  append(front, kCheckpointVersion);
  append(front, static_cast<std::uint32_t>(header.size()));
  append(front, content_hash(std::as_bytes(std::span(header))));
  front += header;
  front.resize(start, '\0');
  return front;
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
constexpr const char* kUseAnother =
    "remove it to resume from an older checkpoint, or copy it again from its source";

[[noreturn]] void refuse_checkpoint(const std::string& name, const std::string& what) {
  throw Error(ErrorKind::input, name + ": " + what, kUseAnother);
}

std::uint64_t hash_from(const std::string& text) {
  const auto hash = parse_as<std::uint64_t>(text, 16);
  if (text.size() != 16 || !hash)
    throw Error(ErrorKind::input, "'" + text.substr(0, 40) + "' is not a hash");
  return *hash;
}

std::string header_text(const ByteReader& file, const std::string& name) {
  if (file.text(0, kCheckpointMagic.size()) != kCheckpointMagic)
    refuse_checkpoint(name, "not a checkpoint: no 'BENCHCKP' at offset 0");
  const auto version = file.number<std::uint32_t>(8);
  if (version != kCheckpointVersion)
    refuse_checkpoint(name, fmt::format("unsupported format version {} at offset 8, expected {}",
                                        version, kCheckpointVersion));
  const auto bytes = file.number<std::uint32_t>(12);
  const auto text = file.slice(kCheckpointFront, bytes);
  if (content_hash(text) != file.number<std::uint64_t>(16))
    refuse_checkpoint(name, fmt::format("the header at offset {} is damaged", kCheckpointFront));
  return file.text(kCheckpointFront, bytes);
}

CheckpointFile::Section section_from(Fields fields) {
  CheckpointFile::Section section;
  section.name = fields.word("name");
  section.dtype = fields.word_as("dtype", dtype_from);
  section.rows = fields.integer("rows", 0, kMostElements);
  section.columns = fields.integer("columns", 0, kMostElements);
  section.offset = fields.natural("offset");
  section.hash = fields.word_as("hash", hash_from);
  fields.finish();
  std::int64_t elements = 0;
  if (__builtin_mul_overflow(section.rows, section.columns, &elements) || elements > kMostElements)
    fields.refuse("rows", "fewer elements", section.rows);
  section.bytes = static_cast<std::uint64_t>(elements) * size_of(section.dtype);
  return section;
}

}  // namespace

std::uint64_t write_checkpoint(const std::filesystem::path& path, const Json& meta,
                               const std::vector<NamedView>& sections,
                               const FileObserver& observer) {
  std::vector<std::uint64_t> hashes;
  for (const NamedView& section : sections)
    hashes.push_back(content_hash(HostBytes(section).all()));
  // Offsets are part of the header and depend on its length: grow the space until it fits.
  std::uint64_t start = kSectionAlignment;
  std::string header = header_of(meta, sections, hashes, start);
  while (kCheckpointFront + header.size() > start) {
    start = aligned_section(kCheckpointFront + header.size());
    header = header_of(meta, sections, hashes, start);
  }
  AtomicFile file(path, observer);
  const std::string front = front_of(header, start);
  file.write(std::as_bytes(std::span(front)));
  std::uint64_t end = start;
  for (const NamedView& section : sections) {
    const std::string gap(aligned_section(end) - end, '\0');
    if (!gap.empty()) file.write(std::as_bytes(std::span(gap)));
    file.write(HostBytes(section).all());
    end += gap.size() + byte_count(section);
  }
  file.commit();
  return end;
}

CheckpointFile::CheckpointFile(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  const ByteReader file(bytes_, name_);
  const std::string text = header_text(file, name_);
  try {
    const Json header = parse_json(text, name_ + ": header");
    Fields fields(header, name_ + ": header");
    meta_ = fields.object("meta");
    for (const Json& one : fields.array("sections"))
      sections_.push_back(section_from(fields.inside("sections", one)));
    fields.finish();
  } catch (const Error& error) {
    throw Error(ErrorKind::input, error.what(), kUseAnother);
  }
  std::uint64_t end = kCheckpointFront + text.size();
  std::set<std::string> names;
  for (const Section& section : sections_) {
    if (section.offset != aligned_section(end) || !names.insert(section.name).second)
      refuse_checkpoint(name_, fmt::format("section '{}' has an invalid offset {}", section.name,
                                           section.offset));
    end = section.offset + file.slice(section.offset, section.bytes).size();
  }
  if (!sections_.empty() && end != bytes_.size())
    refuse_checkpoint(name_,
                      fmt::format("the file ends at offset {}, expected {}", bytes_.size(), end));
}

std::span<const std::byte> CheckpointFile::content(const Section& section) const {
  const auto bytes = bytes_.subspan(section.offset, section.bytes);
  if (content_hash(bytes) != section.hash)
    refuse_checkpoint(
        name_, fmt::format("section '{}' at offset {} is damaged", section.name, section.offset));
  return bytes;
}

void CheckpointFile::read(const NamedView& into) const {
  for (const Section& section : sections_) {
    if (section.name != into.name) continue;
    const View& view = into.view;
    if (section.dtype != view.dtype || section.rows != view.rows || section.columns != view.columns)
      refuse_checkpoint(
          name_, fmt::format("section '{}' at offset {} is {} [{}, {}], expected {} [{}, {}]",
                             section.name, section.offset, to_string(section.dtype), section.rows,
                             section.columns, to_string(view.dtype), view.rows, view.columns));
    const HostBytes tensor(into, HostBytes::Holds::zeros);
    std::ranges::copy(content(section), tensor.all().begin());
    return tensor.write_back();
  }
  refuse_checkpoint(name_, "no section '" + into.name + "'");
}

}  // namespace bench::training
