#include "probes/backends/tcp/meeting.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <list>
#include <set>
#include <span>

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "core/version.h"
#include "probes/backends/tcp/greeting.h"
#include "probes/backends/tcp/receive_line.h"
#include "probes/backends/tcp/tcp_socket.h"
#include "probes/facts/system_files.h"

namespace bench {
namespace {

constexpr Seconds kHandshakeTimeout{5.0};            // then a silent connection is rejected
constexpr std::size_t kMaxPending = 64;  // connections beyond the ranks themselves
constexpr std::size_t kNamedRanks = 8;
constexpr std::size_t kNamedRejections = 8;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A connection whose handshake has not arrived yet.
struct Connection {
  Descriptor socket;
  Address from;
  std::string received;
  TcpClock::time_point deadline;
};

class RankAcceptor {
 public:
  explicit RankAcceptor(const Rendezvous& rendezvous)
      : rendezvous_(rendezvous), peers_(static_cast<std::size_t>(rendezvous.size)) {
    peers_[0].host = host_name();
  }

  std::vector<Peer> run() {
    const std::vector<Descriptor> listeners = listen_at(rendezvous_.port, rendezvous_.interfaces);
    const auto deadline = time_after(rendezvous_.timeout);
    while (joined_ < rendezvous_.size) {
      if (TcpClock::now() >= deadline) fail(missing_ranks());
      wait(listeners, deadline);
      for (const Descriptor& listener : listeners) let_in(listener);
      pending_.remove_if([&](Connection& connection) { return read_handshake(connection); });
    }
    answer_all("");
    return std::move(peers_);
  }

 private:
  void wait(const std::vector<Descriptor>& listeners, TcpClock::time_point deadline) const {
    std::vector<pollfd> all;
    for (const Descriptor& listener : listeners) all.push_back({listener.get(), POLLIN, 0});
    for (const Connection& connection : pending_) {
      all.push_back({connection.socket.get(), POLLIN, 0});
      deadline = std::min(deadline, connection.deadline);
    }
    poll(all.data(), all.size(), milliseconds_to(deadline));
  }

  void let_in(const Descriptor& listener) {
    for (;;) {
      Connection connection;
      connection.socket = take_connection(listener, connection.from);
      if (!connection.socket.valid()) return;
      connection.deadline = time_after(kHandshakeTimeout);
      if (pending_.size() < peers_.size() + kMaxPending) pending_.push_back(std::move(connection));
    }
  }

  /// True when it is no longer pending: accepted, rejected or closed.
  bool read_handshake(Connection& connection) {
    bool over = false;
    if (receive_line(connection.socket, connection.received, over)) {
      check_handshake(connection);
      return true;
    }
    if (over && !connection.received.empty()) reject(connection, "not a benchctl rank");
    if (over || TcpClock::now() < connection.deadline) return over;
    reject(connection, "no handshake received");
    return true;
  }

  void reject(const Connection& connection, const std::string& why) {
    const std::string whole = in_words(connection.from) + " rejected: " + why;
    if (rejections_.size() >= kNamedRejections || !rejections_.insert(whole).second) return;
    say(Level::warning, whole);
  }

  void check_handshake(Connection& connection) {
    const auto read = parse_handshake(without_newline(connection.received));
    if (const auto* none = std::get_if<BadHandshake>(&read)) {
      if (!none->foreign) send_all(connection.socket, bytes(answer_line(none->reason)));
      return reject(connection, none->reason);
    }
    const RankHandshake& handshake = std::get<RankHandshake>(read);
    if (!same_token(rendezvous_.token, handshake.token)) {
      send_all(connection.socket, bytes(answer_line("wrong token: this is another job's group")));
      return reject(connection, "wrong token");
    }
    if (const std::string wrong = conflict_of(handshake); !wrong.empty()) refuse_and_fail(connection, wrong);
    Peer& member = peers_[static_cast<std::size_t>(handshake.rank)];
    member.socket = std::move(connection.socket);
    member.host = handshake.host;
    ++joined_;
  }

  /// Why a rank with the right token cannot join; empty if it can.
  std::string conflict_of(const RankHandshake& handshake) const {
    const std::string who = fmt::format("rank {} on {}", handshake.rank, printable(handshake.host));
    if (handshake.version != version())
      return fmt::format("{} has version {}, but rank 0 on {} has version {}", who,
                         printable(handshake.version), peers_[0].host, version());
    if (handshake.size != rendezvous_.size)
      return fmt::format("{} expects {} ranks, but rank 0 expects {}", who, handshake.size,
                         rendezvous_.size);
    if (handshake.rank >= rendezvous_.size)
      return fmt::format("{} is out of range for {} ranks", who, rendezvous_.size);
    const Peer& member = peers_[static_cast<std::size_t>(handshake.rank)];
    if (handshake.rank == 0 || member.socket.valid())
      return fmt::format("duplicate rank {}: on {} and on {}", handshake.rank, member.host,
                         printable(handshake.host));
    return "";
  }

  [[noreturn]] void refuse_and_fail(const Connection& connection, const std::string& why) {
    send_all(connection.socket, bytes(answer_line(why)));
    fail(why);
  }

  [[noreturn]] void fail(const std::string& why) {
    answer_all(why);
    throw Error(ErrorKind::environment, "rank rendezvous failed: " + why,
                "start all ranks from the same build, in the same job and with the same number of ranks");
  }

  /// Sends the result of the rendezvous to all accepted ranks.
  void answer_all(const std::string& refusal) {
    for (const Peer& member : peers_)
      if (member.socket.valid()) send_all(member.socket, bytes(answer_line(refusal)));
  }

  std::string missing_ranks() const {
    std::vector<std::string> missing;
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (!peers_[rank].socket.valid()) missing.push_back(std::to_string(rank));
    const std::size_t count = missing.size();
    if (count > kNamedRanks) missing.resize(kNamedRanks);
    std::string text = fmt::format(
        "timed out: rank{} {}{} of {} did not connect to {} port {} within {:g} s", count > 1 ? "s" : "",
        join(missing, ", "),
        count > kNamedRanks ? fmt::format(" and {} more", count - kNamedRanks) : "",
        rendezvous_.size, peers_[0].host, rendezvous_.port, rendezvous_.timeout.value);
    for (const std::string& rejection : rejections_) text += "; " + rejection;
    return text;
  }

  const Rendezvous& rendezvous_;
  std::vector<Peer> peers_;
  int joined_ = 1;
  std::list<Connection> pending_;
  std::set<std::string> rejections_;
};

}  // namespace

std::vector<Peer> accept_ranks(const Rendezvous& rendezvous) {
  return RankAcceptor(rendezvous).run();
}

}  // namespace bench
