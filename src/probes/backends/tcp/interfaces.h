// Addresses of this host's network interfaces, chosen by name or by network.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// An IPv4 or IPv6 address with a port.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// Of a sockaddr_in or sockaddr_in6 with this port.
Address make_address(const sockaddr& from, int port);

/// "10.77.0.1", "fe80::1%eth0".
std::string in_words(const Address& address);

/// Whether one word of a choice means this address: an interface's name ("eth0") or a network
/// ("10.0.0.0/16", "fd00::/8").
bool chooses(std::string_view word, std::string_view interface, const Address& address);

/// Addresses with this port of the interfaces that are up and chosen. Throws Error(environment),
/// naming those there are, when there is none. `choice`: words with commas between them.
std::vector<Address> chosen_addresses(const std::string& choice, int port);

}  // namespace bench
