// Hostile tars: refused with an Error, or every member lies in the file.
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "probes/data/formats/tar_members.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const auto read = [&](std::uint64_t at, std::span<std::byte> into) {
    demand(at <= size && into.size() <= size - at, "a read past the end");
    if (!into.empty()) std::memcpy(into.data(), data + at, into.size());
  };
  for (const auto& member : bench::data::tar_members(read, size, "fuzz"))
    demand(member.offset <= size && member.bytes <= size - member.offset, "a member past the end");
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  return 0;
}
