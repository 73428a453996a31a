#include <bit>
#include <cstring>

#include "probes/training/checkpoint/checkpoint_file.h"
#include "probes/training/checkpoint/checkpoint_layout.h"
#include "probes/training/engine/content_hash.h"
#include "probes/training/engine/host_bytes.h"

namespace bench::training {
namespace {

static_assert(std::endian::native == std::endian::little, "sections are written as they lie");

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

}  // namespace bench::training
