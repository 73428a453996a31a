// Hostile files of keys: refused with an Error that shows nothing of them, or with keys that can
// stand in a header.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/text.h"
#include "probes/object_storage/credentials.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;
using namespace bench;
using namespace bench::object_storage;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Credentials found = parse_credentials(text, "default", "fuzz");
    demand(found.access_key.empty() == found.secret_key.empty(), "half a pair of keys");
    for (const std::string* key : {&found.access_key, &found.secret_key, &found.session_token})
      demand(std::ranges::all_of(*key, [](char c) { return c > ' ' && c < '\x7f'; }),
             "a key that ends its header");
  } catch (const Error& error) {
    demand(error.kind() == ErrorKind::input, error.what());
    demand(printable(error.text()) == error.text(), "a message that is not safe to print");
  }
  return 0;
}
