// Hostile answers of object stores: pages of lists are refused with an Error, or have an end or a
// next page; errors are safe to print.
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "probes/object_storage/s3_answers.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;
using namespace bench;
using namespace bench::object_storage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const ListPage page = parse_list(text);
    demand(page.keys.size() <= size, "more keys than bytes");
  } catch (const Error& error) {
    demand(error.kind() == ErrorKind::environment, error.what());
    demand(printable(error.what()) == error.what(), "a message that is not safe to print");
  }
  const std::string said = parse_error(text);
  demand(printable(said) == said, "an error that is not safe to print");
  return 0;
}
