#include "probes/facts/pci_address.h"

#include <algorithm>

namespace bench {

bool is_pci_address(std::string_view name) {
  const auto size = name.size();
  return size >= 12 && name[size - 2] == '.' && name[size - 5] == ':' && name[size - 8] == ':';
}

std::string pci_address_of(const SystemFiles& files, const std::string& path) {
  std::string address;
  const std::string whole = files.resolved(path);
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = std::min(whole.find('/', begin), whole.size());
    if (const auto name = whole.substr(begin, end - begin); is_pci_address(name)) address = name;
    begin = end + 1;
  }
  return address;
}

}  // namespace bench
