// Hostile archives of arrays, and arrays: refused with an Error, or every element can be read.
#include <cstdint>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "training/sources/npz.h"

using bench::fuzz::demand;
using namespace bench::training;

namespace {

constexpr std::uint64_t kMostUnpacked = 1100;  // times its input

void check_array(const NpyArray& array, std::size_t input) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : array.shape) elements *= size;
  demand(elements == array.elements(), "a shape that is not its data's");
  demand(array.data.size() <= (input + 1) * kMostUnpacked, "an array that came from nothing");
  for (std::uint64_t i = 0; i < array.elements(); ++i) {
    const double value = array.number(i);
    demand(array.kind == 'f' || value == static_cast<double>(array.integer(i)), "two values");
  }
}

template <class Attempt>
void attempt(Attempt attempt) try {
  attempt();
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  attempt([&] { check_array(read_npy(bytes, "fuzz"), size); });
  attempt([&] {
    NpzFile file(bytes, "fuzz");
    for (const std::string& name : file.names())
      attempt([&] { check_array(file.array(name), size); });
  });
  return 0;
}
