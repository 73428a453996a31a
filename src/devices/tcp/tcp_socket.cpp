#include "devices/tcp/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
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
  const int bits = parse_as<int>(length).value_or(-1);
  std::array<unsigned char, 16> wanted{};
  const auto own = bytes_of(address);
  return bits >= 0 && bits <= static_cast<int>(own.size()) * 8 &&
         inet_pton(address.family(), base.c_str(), wanted.data()) == 1 &&
         equal_bits(own, wanted, bits);
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
  const auto words = words_of(choice, ",");
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

namespace {

constexpr int kWaiting = 4096;          // listen backlog
constexpr int kSilenceS = 5;            // before probing a silent peer
constexpr int kQuestions = 3;           // probes without an answer
constexpr unsigned kUnheardMs = 20000;  // unacknowledged data: the peer is gone
constexpr Seconds kOneTry{3.0};

void set_option(const Descriptor& socket, int level, int name, int value) {
  setsockopt(socket.get(), level, name, &value, sizeof value);  // optional
}

void set_up(const Descriptor& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, kSilenceS);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, kSilenceS);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUnheardMs));
}

Descriptor listen_on(const Address& address, bool& no_such_address) {
  Descriptor socket(
      ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  no_such_address = !socket.valid();
  if (!socket.valid()) return socket;
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(socket.get(), address.get(), address.length) != 0 ||
      listen(socket.get(), kWaiting) != 0) {
    no_such_address = errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT;
    socket.close();
  }
  return socket;
}

[[noreturn]] void cannot_listen(int port) {
  throw_errno("listen on port " + std::to_string(port) + " for the other ranks",
              "another job may be using it: set BENCH_RENDEZVOUS=host:port to another port");
}

Address any_address(int family, int port) {
  sockaddr_storage any{};
  any.ss_family = static_cast<sa_family_t>(family);
  return make_address(reinterpret_cast<const sockaddr&>(any), port);
}

/// Binds to a selected interface, if any.
bool leave_by(const Descriptor& socket, int family, const std::string& interfaces) {
  if (interfaces.empty()) return true;
  for (const Address& own : chosen_addresses(interfaces, 0))
    if (own.family() == family && bind(socket.get(), own.get(), own.length) == 0) return true;
  return false;
}

}  // namespace

TcpClock::time_point time_after(Seconds time) {
  return TcpClock::now() +
         std::chrono::duration_cast<TcpClock::duration>(std::chrono::duration<double>(time.value));
}

int milliseconds_to(TcpClock::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - TcpClock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3600 * 1000));
}

namespace {

bool is_loopback(const Address& address) {
  const auto bytes = bytes_of(address);
  return address.family() == AF_INET
             ? bytes[0] == 127
             : IN6_IS_ADDR_LOOPBACK(
                   &reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr) != 0;
}

/// Where to listen; empty: everywhere.
std::vector<Address> wanted_addresses(const std::string& host, int port,
                                      const std::string& interfaces) {
  if (!interfaces.empty()) return chosen_addresses(interfaces, port);
  std::string why;
  std::vector<Address> found;
  for (const Address& address : addresses_of(host, port, why))
    if (std::ranges::none_of(found, [&](const Address& other) {  // /etc/hosts may repeat itself
          return in_words(other) == in_words(address);
        }))
      found.push_back(address);
  // Debian gives a host's own name 127.0.1.1; to others it is another address.
  const bool means_loopback =
      host == "localhost" || (found.size() == 1 && in_words(found[0]) == host);
  if (!means_loopback && std::ranges::all_of(found, is_loopback)) found.clear();
  return found;
}

/// Nothing, with errno, if the port is in use at one of them; without those that this machine
/// lacks.
std::optional<std::vector<Descriptor>> listen_on_all(const std::vector<Address>& addresses) {
  std::vector<Descriptor> sockets;
  for (const Address& address : addresses) {
    bool no_such_address = false;
    Descriptor socket = listen_on(address, no_such_address);
    if (socket.valid())
      sockets.push_back(std::move(socket));
    else if (!no_such_address)
      return {};
  }
  return sockets;
}

std::vector<Descriptor> listen_everywhere(int port) {
  bool no_such_family = false;
  std::vector<Descriptor> sockets;
  sockets.push_back(listen_on(any_address(AF_INET6, port), no_such_family));
  if (!sockets.back().valid() && no_such_family)
    sockets.back() = listen_on(any_address(AF_INET, port), no_such_family);
  if (!sockets.back().valid()) sockets.clear();
  return sockets;
}

std::vector<Descriptor> listen_at_port(const std::string& host, int port,
                                       const std::string& interfaces) {
  auto sockets = listen_on_all(wanted_addresses(host, port, interfaces));
  if (!sockets) return {};
  if (!sockets->empty() || !interfaces.empty()) return std::move(*sockets);
  return listen_everywhere(port);
}

}  // namespace

std::vector<Descriptor> listen_at(const std::string& host, const std::vector<int>& ports,
                                  const std::string& interfaces, int& port) {
  for (const int one : ports) {
    port = one;
    auto sockets = listen_at_port(host, port, interfaces);
    if (!sockets.empty()) return sockets;
  }
  cannot_listen(port);
}

Descriptor take_connection(const Descriptor& listener, Address& from) {
  from.length = sizeof from.storage;
  Descriptor socket(
      accept4(listener.get(), from.get(), &from.length, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) set_up(socket);
  return socket;
}

/// "localhost" is this host even if it cannot be resolved (RFC 6761, 6.3): minimal systems lack
/// /etc/hosts. Without a name getaddrinfo returns the loopback addresses, but needs a port.
std::vector<Address> addresses_of(const std::string& host, int port, std::string& why) {
  addrinfo wish{};
  wish.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const bool is_here = host == "localhost";
  if (const int code =
          getaddrinfo(is_here ? nullptr : host.c_str(), is_here ? "0" : nullptr, &wish, &list);
      code != 0) {
    why = std::string("cannot resolve its address: ") + gai_strerror(code);
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  std::vector<Address> found;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next)
    if (one->ai_family == AF_INET || one->ai_family == AF_INET6)
      found.push_back(make_address(*one->ai_addr, port));
  return found;
}

Descriptor connect_once(const Address& address, const std::string& interfaces,
                        TcpClock::time_point deadline, std::string& why) {
  Descriptor socket(
      ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const auto failed = [&](const std::string& reason) {
    why = in_words(address) + ": " + reason;
    return Descriptor();
  };
  if (!socket.valid()) return failed(std::strerror(errno));
  if (!leave_by(socket, address.family(), interfaces))
    return failed("not reachable from any address of '" + printable(interfaces) + "'");
  int error = connect(socket.get(), address.get(), address.length) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd wait{socket.get(), POLLOUT, 0};
    if (poll(&wait, 1, milliseconds_to(std::min(deadline, time_after(kOneTry)))) != 1)
      return failed("connection timed out");
    socklen_t length = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  }
  if (error != 0) return failed(std::strerror(error));
  set_up(socket);
  return socket;
}

bool send_all(const Descriptor& socket, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t sent = send(socket.get(), data.data(), data.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      data = data.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd wait{socket.get(), POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::ptrdiff_t receive_some(const Descriptor& socket, std::span<std::byte> data) {
  const ssize_t got = recv(socket.get(), data.data(), data.size(), 0);
  if (got > 0) return got;
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (got == 0) errno = 0;  // connection closed
  return -1;
}

}  // namespace bench
