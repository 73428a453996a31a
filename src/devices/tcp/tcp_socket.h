// Sockets as the group uses them: close-on-exec, non-blocking, without delay, and a peer that falls
// silent, as after a power cut, is noticed within some 20 s.
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

// Addresses of this host's network interfaces, chosen by name or by network.

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

using TcpClock = std::chrono::steady_clock;

TcpClock::time_point time_after(Seconds time);
/// For poll(): 0 and above, at most an hour.
int milliseconds_to(TcpClock::time_point deadline);

/// One listening socket for all interfaces (IPv6 and IPv4 both), or one for each chosen address.
/// Throws Error(environment) when the port is taken.
std::vector<Descriptor> listen_at(int port, const std::string& interfaces);

/// A connection that waits at a listening socket, and where it is from; invalid when there is none.
Descriptor take_connection(const Descriptor& listener, Address& from);

/// Tries every address of the host again and again, for it may not listen yet. Throws
/// Error(environment) with the last reason at the deadline.
Descriptor connect_to(const std::string& host, int port, const std::string& interfaces,
                      TcpClock::time_point deadline);

/// All of it, however long it takes; false when the peer is gone (errno says why).
bool send_all(const Descriptor& socket, std::span<const std::byte> data);

/// What there is now, at most data.size() bytes. 0: nothing yet; -1: the peer is gone.
std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> data);

}  // namespace bench
