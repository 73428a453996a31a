#include "probes/storage/manifest.h"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <set>
#include <span>

#include "core/error.h"
#include "core/fields.h"
#include "core/text.h"
#include "probes/storage/crc32c.h"
#include "probes/storage/shard_writer.h"

namespace bench::storage {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kDigits = 8;
constexpr std::size_t kLongestName = 200;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;
constexpr std::int64_t kMostOfChunk = std::int64_t{1} << 30;  // a reader has memory for one
constexpr const char* kTakeAnother = "it is truncated or modified: use the previous checkpoint";

std::uint32_t checksum_of(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

std::uint32_t from_digits(std::string_view digits, const std::string& where) {
  const auto value = parse_as<std::uint32_t>(digits, 16);
  if (digits.size() != kDigits || !value)
    throw Error(ErrorKind::input,
                where + ": '" + printable(digits.substr(0, 20)) +
                    "' is not a checksum of 8 hexadecimal digits",
                kTakeAnother);
  return *value;
}

/// A plain file name that cannot lead to another folder.
bool plain(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
}

std::uint64_t size_of(Fields& fields, std::string_view key) {
  return static_cast<std::uint64_t>(fields.integer(key, 1, kMostBytes));
}

Json content_of(const Manifest& manifest) {
  Json shards = Json::array();
  for (const ShardEntry& shard : manifest.shards) shards.push_back(to_json(shard));
  return {{"format", kFormat},
          {"step", manifest.step},
          {"chunk_bytes", manifest.chunk_bytes},
          {"shards", std::move(shards)}};
}

Manifest read_content(const Json& content, const std::string& origin) {
  Fields fields(content, origin);
  Manifest manifest;
  fields.integer("format", kFormat, kFormat);
  manifest.step = fields.integer("step", 0, std::numeric_limits<std::int64_t>::max());
  manifest.chunk_bytes = static_cast<std::uint64_t>(fields.integer("chunk_bytes", 1, kMostOfChunk));
  std::set<std::string> names;
  for (const Json& one : fields.array("shards")) {
    manifest.shards.push_back(shard_entry_from(one, manifest.chunk_bytes, origin));
    if (!names.insert(manifest.shards.back().file).second)
      throw Error(ErrorKind::input, origin + ": lists " + manifest.shards.back().file + " twice",
                  kTakeAnother);
  }
  if (manifest.shards.empty())
    throw Error(ErrorKind::input, origin + ": has no shards", kTakeAnother);
  fields.finish();
  return manifest;
}

}  // namespace

Json to_json(const ShardEntry& entry) {
  std::string digits;
  digits.reserve(entry.checksums.size() * kDigits);
  for (const std::uint32_t checksum : entry.checksums) digits += fmt::format("{:08x}", checksum);
  return {{"file", entry.file}, {"bytes", entry.bytes}, {"checksums", digits}};
}

ShardEntry shard_entry_from(const Json& json, std::uint64_t chunk_bytes,
                            const std::string& origin) {
  Fields fields(json, origin);
  ShardEntry entry;
  entry.file = fields.text("file");
  if (!plain(entry.file))
    throw Error(
        ErrorKind::input,
        origin + ": '" + printable(entry.file.substr(0, 60)) + "' is not a valid shard name",
        kTakeAnother);
  entry.bytes = size_of(fields, "bytes");
  const std::string digits = fields.text("checksums");
  const std::uint64_t chunks = (entry.bytes - 1) / chunk_bytes + 1;
  if (digits.size() % kDigits != 0 || digits.size() / kDigits != chunks)
    throw Error(ErrorKind::input,
                fmt::format("{}: {} has {} checksum digits for {} chunks; expected 8 per chunk",
                            origin, entry.file, digits.size(), chunks),
                kTakeAnother);
  for (std::size_t at = 0; at < digits.size(); at += kDigits)
    entry.checksums.push_back(from_digits(std::string_view(digits).substr(at, kDigits), origin));
  fields.finish();
  return entry;
}

std::string manifest_text(const Manifest& manifest) {
  const Json content = content_of(manifest);
  return dump({{"manifest", content},
               {"crc32c", fmt::format("{:08x}", checksum_of(dump(content)))}}) +
         "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& origin) {
  Json json;
  try {
    json = parse_json(text, origin);
  } catch (const Error& error) {
    throw Error(ErrorKind::input, error.what(), kTakeAnother);
  }
  Fields fields(json, origin);
  const std::uint32_t expected = from_digits(fields.text("crc32c"), origin);
  const Json& content = fields.object("manifest");
  const std::uint32_t found = checksum_of(dump(content));
  if (found != expected)
    throw Error(ErrorKind::input,
                fmt::format("{}: checksum {:08x}, expected {:08x}", origin, found, expected),
                kTakeAnother);
  fields.finish();
  return read_content(content, origin);
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestName;
  return parse_manifest(read_file(path), path.string());
}

void commit_manifest(const std::filesystem::path& folder, const Manifest& manifest,
                     const FileObserver& observer) {
  const auto observe = [&](const char* operation) {
    if (observer) observer(operation);
  };
  const std::filesystem::path path = folder / kManifestName;
  const std::string unfinished = path.string() + kUnfinished;
  const std::string text = manifest_text(manifest);
  observe("open manifest");
  StorageFile file(unfinished, Access::buffered, OpenFor::writing_anew);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  observe("write manifest");
  file.write(bytes.first(bytes.size() / 2), 0);
  observe("write manifest's rest");
  file.write(bytes.subspan(bytes.size() / 2), bytes.size() / 2);
  observe("sync manifest");
  file.sync();
  observe("rename manifest");
  if (std::rename(unfinished.c_str(), path.c_str()) != 0)
    throw_errno("rename " + unfinished + " to " + path.string());
  observe("sync of the folder");
  sync_folder(folder);
}

}  // namespace bench::storage
