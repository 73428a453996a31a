// Hostile files of weights: refused with an Error, or every tensor lies in the file and those of
// floating-point types can be read.
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "training/checkpoint/safetensors.h"

using bench::fuzz::demand;
using namespace bench::training;

namespace {

void read_tensor(const SafetensorsFile& file, const std::string& name,
                 const SafetensorsFile::Tensor& tensor) try {
  std::vector<float> values(static_cast<std::size_t>(tensor.elements));
  file.read(name, values);
  demand(tensor.type == "F32" || tensor.type == "BF16" || tensor.type == "F16", "an unread type");
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  try {
    const SafetensorsFile file(bytes, "fuzz");
    std::uint64_t sum = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      demand(tensor.offset <= size && tensor.bytes <= size - tensor.offset, "a tensor outside");
      sum += tensor.bytes;
      if (tensor.bytes > 0 || tensor.elements == 0) read_tensor(file, name, tensor);
    }
    demand(sum <= size, "tensors that overlap");
  } catch (const bench::Error& error) {
    demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  }
  return 0;
}
