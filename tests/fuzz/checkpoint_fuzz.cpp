// Hostile checkpoints: refused with an Error, or every section can be read. As nothing gets past a
// damaged header's hash, the hash of half of the inputs is made right first.
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "training/checkpoint/checkpoint_file.h"
#include "training/engine/content_hash.h"

using bench::fuzz::demand;
using namespace bench::training;

namespace {

/// Makes the header's hash that of the header, and its length one that lies in the file.
void mend(std::vector<std::byte>& bytes) {
  if (bytes.size() < kCheckpointFront) return;
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 12, sizeof(length));
  const std::size_t most = bytes.size() - kCheckpointFront;
  if (length > most) length = static_cast<std::uint32_t>(most);
  std::memcpy(bytes.data() + 12, &length, sizeof(length));
  const std::uint64_t hash =
      content_hash(std::span<const std::byte>(bytes).subspan(kCheckpointFront, length));
  std::memcpy(bytes.data() + 16, &hash, sizeof(hash));
}

void read_all(std::span<const std::byte> bytes) try {
  const CheckpointFile file(bytes, "fuzz");
  for (const CheckpointFile::Section& section : file.sections()) {
    demand(section.offset <= bytes.size() && section.bytes <= bytes.size() - section.offset,
           "a section outside of the file");
    try {
      std::vector<std::byte> copy(section.bytes);
      file.read({section.name, {copy.data(), section.rows, section.columns, section.dtype}});
      demand(content_hash(copy) == section.hash, "a section that is not what its hash says");
    } catch (const bench::Error& error) {
      demand(error.kind() == bench::ErrorKind::input, error.what());
    }
  }
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  read_all(bytes);
  mend(bytes);
  read_all(bytes);
  return 0;
}
