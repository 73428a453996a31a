// Hostile manifests of checkpoints: refused with an Error, or of sense, and then their own text
// says the same. As nothing gets past a wrong checksum, half of the inputs are taken for the
// manifest's content, with a checksum that is right.
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/error.h"
#include "probes/storage/crc32c.h"
#include "probes/storage/manifest.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;
using namespace bench;
using namespace bench::storage;

namespace {

void read(const std::string& text) try {
  const Manifest manifest = parse_manifest(text, "fuzz");
  demand(!manifest.shards.empty(), "a manifest without a shard");
  for (const ShardEntry& shard : manifest.shards) {
    demand(shard.file.find('/') == std::string::npos && shard.file.front() != '.',
           "a name that leads elsewhere");
    demand(shard.checksums.size() * manifest.chunk_bytes >= shard.bytes, "too few checksums");
  }
  demand(manifest_text(parse_manifest(manifest_text(manifest), "again")) == manifest_text(manifest),
         "a manifest that is another when written again");
} catch (const Error& error) {
  demand(error.kind() == ErrorKind::input, error.what());
}

void read_content(const std::string& text) {
  Json content;
  try {
    content = parse_json(text, "fuzz");
  } catch (const Error&) {
    return;
  }
  if (content.is_object() && content.contains("manifest")) content = content.at("manifest");
  const std::string canonical = dump(content);
  const auto bytes = std::as_bytes(std::span(canonical.data(), canonical.size()));
  read(dump({{"crc32c", fmt::format("{:08x}", crc32c(bytes))}, {"manifest", content}}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read_content(text);
  return 0;
}
