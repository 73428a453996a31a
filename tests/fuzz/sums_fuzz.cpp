// A hostile SHA256SUMS: refused with Error(input), or names that lie below the folder; what was
// accepted is read again from the same lines.
#include <cstdint>
#include <filesystem>

#include "core/text.h"
#include "runner/seal/seal.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  bench::fuzz::may_refuse([&] {
    std::string again;
    const auto sums = bench::sums_from_text(text, "fuzz");
    for (const bench::FileSum& sum : sums) {
      const auto path = (std::filesystem::path("/folder") / sum.name).lexically_normal().string();
      demand(path.starts_with("/folder/"), "a name leads out of the folder: " + sum.name);
      demand(bench::printable(sum.name) == sum.name, "a name has control characters");
      again += sum.sha256 + "  " + sum.name + "\n";
    }
    bench::fuzz::must_accept("what was accepted", [&] {
      demand(bench::sums_from_text(again, "again").size() == sums.size(), "sums are lost");
    });
  });
  return 0;
}
