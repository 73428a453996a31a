// Sockets as the group uses them: close-on-exec, non-blocking, without delay, and a peer that falls
// silent, as after a power cut, is noticed within some 20 s.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"
#include "probes/backends/tcp/interfaces.h"

namespace bench {

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
