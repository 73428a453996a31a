// Hostile answers of hosts to --stage, one a paragraph that ends in a line "---": the folder that
// is chosen is plain and offered by all; reasons are printable.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/stage/stage.h"
#include "tests/fuzz/demand.h"

namespace {

using namespace bench;
using fuzz::demand;

std::vector<HostSession> sessions_of(std::string_view text) {
  constexpr std::string_view kCut = "---\n";
  constexpr std::size_t kMost = 8;
  std::vector<HostSession> hosts;
  while (hosts.size() < kMost) {
    const std::size_t end = text.find(kCut);
    hosts.push_back({.host = "node" + std::to_string(hosts.size()),
                     .argv = {},
                     .output = std::string(text.substr(0, end)),
                     .error = {},
                     .trouble = {}});
    if (end == text.npos) break;
    text.remove_prefix(end + kCut.size());
  }
  return hosts;
}

bool offers(const HostSession& host, const std::string& folder) {
  return host.has("usable " + folder);
}

void check_choice(const std::vector<HostSession>& hosts) try {
  const std::string folder = common_folder(hosts);
  demand(is_plain_path(folder), "a folder that a shell would read: " + folder);
  for (const HostSession& host : hosts)
    demand(offers(host, folder), host.host + " did not offer " + folder);
} catch (const Error& error) {
  demand(error.kind() == ErrorKind::environment, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto hosts = sessions_of({reinterpret_cast<const char*>(data), size});
  check_choice(hosts);
  for (const HostSession& host : hosts) {
    for (const std::string& folder : usable_folders(host))
      demand(is_plain_path(folder), "a folder that a shell would read: " + folder);
    demand(std::ranges::none_of(obstacles_of(host),
                                [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
           "an odd character in a reason");
    if (has_program(host, "0.1.0+1a2b3c4"))
      demand(host.output.find("0.1.0+1a2b3c4") != std::string::npos, "another version passes");
  }
  return 0;
}
