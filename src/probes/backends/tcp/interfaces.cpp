#include "probes/backends/tcp/interfaces.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

std::span<const unsigned char> bytes_of(const Address& address) {
  if (address.family() == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return {reinterpret_cast<const unsigned char*>(&in->sin_addr), 4};
  }
  const auto* in = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  return {reinterpret_cast<const unsigned char*>(&in->sin6_addr), 16};
}

bool equal_bits(std::span<const unsigned char> a, std::span<const unsigned char> b, int bits) {
  for (std::size_t i = 0; bits > 0; ++i, bits -= 8) {
    const int shift = std::max(0, 8 - bits);
    if ((a[i] >> shift) != (b[i] >> shift)) return false;
  }
  return true;
}

/// "10.0.0.0/16"
bool in_network(std::string_view network, const Address& address) {
  const auto slash = network.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string base(network.substr(0, slash));
  const std::string_view length = network.substr(slash + 1);
  int bits = -1;
  if (std::from_chars(length.data(), length.data() + length.size(), bits).ptr !=
      length.data() + length.size())
    return false;
  std::array<unsigned char, 16> wanted{};
  const auto own = bytes_of(address);
  return bits >= 0 && bits <= static_cast<int>(own.size()) * 8 &&
         inet_pton(address.family(), base.c_str(), wanted.data()) == 1 &&
         equal_bits(own, wanted, bits);
}

std::vector<std::string_view> choices_in(std::string_view choice) {
  std::vector<std::string_view> words;
  while (!choice.empty()) {
    const auto comma = choice.find(',');
    words.push_back(choice.substr(0, comma));
    choice.remove_prefix(comma == std::string_view::npos ? choice.size() : comma + 1);
  }
  return words;
}

}  // namespace

Address make_address(const sockaddr& from, int port) {
  Address address;
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (from.sa_family == AF_INET) {
    address.length = sizeof(sockaddr_in);
    std::memcpy(&address.storage, &from, address.length);
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = number;
  } else {
    address.length = sizeof(sockaddr_in6);
    std::memcpy(&address.storage, &from, address.length);
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = number;
  }
  return address;
}

std::string in_words(const Address& address) {
  std::array<char, NI_MAXHOST> name{};
  if (getnameinfo(address.get(), address.length, name.data(), name.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return "an unknown address";
  return name.data();
}

bool chooses(std::string_view word, std::string_view interface, const Address& address) {
  return !word.empty() && (word == interface || in_network(word, address));
}

std::vector<Address> chosen_addresses(const std::string& choice, int port) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw_errno("list the network interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  const auto words = choices_in(choice);
  std::vector<Address> found;
  std::string known;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    if (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6) continue;
    const Address address = make_address(*one->ifa_addr, port);
    known += (known.empty() ? "" : ", ") + std::string(one->ifa_name) + " " + in_words(address);
    if (std::ranges::any_of(words,
                            [&](auto word) { return chooses(word, one->ifa_name, address); }))
      found.push_back(address);
  }
  if (found.empty())
    throw Error(ErrorKind::environment,
                "no network interface of this host matches '" + printable(choice) + "'",
                "available: " + known);
  return found;
}

}  // namespace bench
