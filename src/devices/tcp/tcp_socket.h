// Sockets of a group: close-on-exec, non-blocking, without delay. A silent peer, as after a power
// cut, is detected within 20 s.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"

namespace bench {

/// An IPv4 or IPv6 address with a port.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// From a sockaddr_in or sockaddr_in6, with this port.
Address make_address(const sockaddr& from, int port);

/// "10.77.0.1", "fe80::1%eth0".
std::string in_words(const Address& address);

/// Whether `word` is the interface's name ("eth0") or a network of the address ("10.0.0.0/16",
/// "fd00::/8").
bool chooses(std::string_view word, std::string_view interface, const Address& address);

/// Addresses, with this port, of the selected interfaces that are up. Throws Error(environment)
/// listing the interfaces if there is none. `choice`: words separated by commas.
std::vector<Address> chosen_addresses(const std::string& choice, int port);

using TcpClock = std::chrono::steady_clock;

TcpClock::time_point time_after(Seconds time);
/// For poll(): from 0 to one hour.
int milliseconds_to(TcpClock::time_point deadline);

/// A socket for each address of the selected interfaces, else for each address of `host` that this
/// machine has. If `host` has no address here that others could reach (behind NAT, or a host name
/// that stands for 127.0.1.1), one socket for all addresses. The first of `ports` that is free
/// becomes `port`. Throws Error(environment) if none is.
std::vector<Descriptor> listen_at(const std::string& host, const std::vector<int>& ports,
                                  const std::string& interfaces, int& port);

/// A pending connection and its origin; invalid if there is none.
Descriptor take_connection(const Descriptor& listener, Address& from);

/// All addresses of a host; `why` if there are none.
std::vector<Address> addresses_of(const std::string& host, int port, std::string& why);

/// From a selected interface; invalid, with the reason in `why`, if nobody answers in 3 s.
Descriptor connect_once(const Address& address, const std::string& interfaces,
                        TcpClock::time_point deadline, std::string& why);

/// Sends all data, blocking; false if the peer is gone (errno says why).
bool send_all(const Descriptor& socket, std::span<const std::byte> data);

/// Receives at most data.size() available bytes. 0: none yet; -1: the peer is gone.
std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> data);

}  // namespace bench
