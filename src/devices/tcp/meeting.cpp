#include "devices/tcp/meeting.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/log.h"
#include "core/secret.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/version.h"
#include "devices/tcp/handshake.h"
#include "devices/tcp/rendezvous.h"
#include "devices/tcp/tcp_socket.h"

namespace bench {
namespace {

constexpr Seconds kHandshakeTimeout{5.0};  // for each line of a handshake
constexpr Seconds kAnswerTimeout{5.0};     // added to the rendezvous timeout
constexpr int kBetweenTriesMs = 100;

/// Continues a line: true if `heard` ends with a newline; `over` if it never will (the peer is
/// gone, or the line is too long). Reads no byte beyond the line: the next ones are frames.
bool receive_line(const Descriptor& socket, std::string& heard, bool& over) {
  std::array<std::byte, 1> some;
  std::ptrdiff_t got = 0;
  while (!heard.ends_with('\n') && heard.size() < kMaxHandshake) {
    got = receive_some(socket, some);
    if (got <= 0) break;
    heard += static_cast<char>(some[0]);
  }
  if (heard.ends_with('\n')) return true;
  over = got < 0 || heard.size() >= kMaxHandshake;
  return false;
}

std::string without_newline(const std::string& line) { return line.substr(0, line.find('\n')); }

bool send_line(const Descriptor& socket, const std::string& line) {
  return send_all(socket, std::as_bytes(std::span(line)));
}

/// "port 20017", "port 20017 and 7 others".
std::string ports_in_words(const std::vector<int>& ports) {
  return fmt::format("port {}{}", ports.front(),
                     ports.size() > 1 ? fmt::format(" and {} others", ports.size() - 1) : "");
}

/// A rank that looks for rank 0 at each address and port where it may be, until it finds one that
/// proves itself.
class RootSearch {
 public:
  explicit RootSearch(const Rendezvous& rendezvous)
      : rendezvous_(rendezvous), deadline_(time_after(rendezvous.timeout)) {}

  Peer run() {
    do {
      for (const int port : rendezvous_.ports)
        for (const Address& address : addresses_of(rendezvous_.host, port, why_))
          if (auto peer = try_address(address, port)) return std::move(*peer);
      poll(nullptr, 0, std::min(kBetweenTriesMs, milliseconds_to(deadline_)));
    } while (TcpClock::now() < deadline_);
    throw Error(ErrorKind::environment,
                fmt::format("cannot reach rank 0 at {} {}: {}", printable(rendezvous_.host),
                            ports_in_words(rendezvous_.ports), why_),
                "check that rank 0 is running and that no firewall blocks the port");
  }

 private:
  std::optional<Peer> try_address(const Address& address, int port) {
    where_ = fmt::format("rank 0 at {} port {}", printable(rendezvous_.host), port);
    Descriptor socket = connect_once(address, rendezvous_.interfaces, deadline_, why_);
    if (!socket.valid()) return {};
    const std::string hello =
        handshake_line({std::string(version()), rendezvous_.size, rendezvous_.rank,
                        rendezvous_.group, host_name(), random_secret()});
    if (!send_line(socket, hello)) return no_answer(true);
    const auto line = next_line(socket, std::min(deadline_, time_after(kHandshakeTimeout)));
    if (!line) return {};
    const auto challenge = parse_challenge(*line);
    if (!challenge) return not_rank_0(*line);
    const Transcript transcript(rendezvous_.secret, without_newline(hello), challenge->nonce);
    if (!same_secret(transcript.proof_of_root(), challenge->proof)) return no_proof();
    return join(std::move(socket), transcript);
  }

  /// Of a rank 0 that has proven itself.
  std::optional<Peer> join(Descriptor socket, const Transcript& transcript) {
    if (!send_line(socket, proof_line(transcript.proof_of_rank()))) return no_answer(true);
    const auto line = next_line(socket, deadline_ + (time_after(kAnswerTimeout) - TcpClock::now()));
    if (!line) return {};
    const Answer answer = parse_answer(*line);
    if (!answer.ours || !answer.refusal.empty())
      throw Error(ErrorKind::environment, where_ + " refused the connection: " + answer.refusal);
    return Peer{std::move(socket), rendezvous_.host, transcript.key_of_rank(),
                transcript.key_of_root()};
  }

  std::optional<std::string> next_line(const Descriptor& socket, TcpClock::time_point patience) {
    std::string heard;
    bool over = false;
    while (!over && TcpClock::now() < patience) {
      pollfd wait{socket.get(), POLLIN, 0};
      poll(&wait, 1, milliseconds_to(patience));
      if (receive_line(socket, heard, over)) return without_newline(heard);
    }
    no_answer(over && heard.size() < kMaxHandshake);
    return {};
  }

  /// Rank 0 may be overrun by strangers, or restart: try again.
  std::nullopt_t no_answer(bool closed) {
    why_ = where_ +
           (closed ? " closed the connection before all ranks had joined" : " does not answer");
    return std::nullopt;
  }

  std::nullopt_t not_rank_0(const std::string& line) {
    const Answer answer = parse_answer(line);
    if (answer.ours && !answer.refusal.empty())
      return give_up(where_ + " refused the connection: " + answer.refusal, "");
    return give_up("the listener for " + where_ + " is not a benchctl rank",
                   "set BENCH_RENDEZVOUS=host:port to a free port");
  }

  std::nullopt_t no_proof() {
    return give_up(where_ + " cannot prove that it knows this group's secret",
                   "it may be of another job; give all ranks of one group the same "
                   "BENCH_GROUP_SECRET");
  }

  /// For this address; for good if there is no other.
  std::nullopt_t give_up(const std::string& why, const std::string& hint) {
    if (rendezvous_.ports.size() == 1) throw Error(ErrorKind::environment, why, hint);
    why_ = why;
    return std::nullopt;
  }

  const Rendezvous& rendezvous_;
  TcpClock::time_point deadline_;
  std::string where_;
  std::string why_ = "connection timed out";
};

}  // namespace

Peer connect_to_root(const Rendezvous& rendezvous) { return RootSearch(rendezvous).run(); }

namespace {

constexpr std::size_t kMaxPending = 256;  // connections beyond the ranks themselves
constexpr Seconds kLeastPatience{0.1};    // for a connection, even if many others wait
constexpr std::size_t kNamedRanks = 8;
constexpr std::size_t kNamedRejections = 8;

/// A connection that has not proven itself yet.
struct Connection {
  Descriptor socket;
  Address from;
  TcpClock::time_point deadline, evictable;
  std::string received = {};
  std::optional<RankHandshake> handshake = {};
  std::optional<Transcript> transcript = {};  // once challenged
};

class RankAcceptor {
 public:
  explicit RankAcceptor(const Rendezvous& rendezvous)
      : rendezvous_(rendezvous), peers_(static_cast<std::size_t>(rendezvous.size)) {
    peers_[0].host = host_name();
  }

  std::vector<Peer> run() {
    listeners_ =
        listen_at(rendezvous_.host, rendezvous_.ports, rendezvous_.interfaces, listening_port_);
    const auto deadline = time_after(rendezvous_.timeout);
    while (joined_ < rendezvous_.size) {
      if (TcpClock::now() >= deadline) fail(missing_ranks());
      wait(deadline);
      for (const Descriptor& listener : listeners_) let_in(listener);
      pending_.remove_if([&](Connection& connection) { return advance(connection); });
    }
    answer_all("");
    return std::move(peers_);
  }

 private:
  bool full() const { return pending_.size() >= peers_.size() + kMaxPending; }

  /// A full room leaves the rest in the kernel's queue until the oldest may be sent away.
  void wait(TcpClock::time_point deadline) const {
    std::vector<pollfd> all;
    const bool closed = full() && TcpClock::now() < pending_.front().evictable;
    if (closed) deadline = std::min(deadline, pending_.front().evictable);
    for (const Descriptor& listener : listeners_)
      if (!closed) all.push_back({listener.get(), POLLIN, 0});
    for (const Connection& connection : pending_) {
      all.push_back({connection.socket.get(), POLLIN, 0});
      deadline = std::min(deadline, connection.deadline);
    }
    poll(all.data(), all.size(), milliseconds_to(deadline));
  }

  void let_in(const Descriptor& listener) {
    for (;;) {
      if (full()) {
        if (TcpClock::now() < pending_.front().evictable) return;
        pending_.pop_front();  // a rank among them tries again
      }
      Connection connection;
      connection.socket = take_connection(listener, connection.from);
      if (!connection.socket.valid()) return out_of_descriptors();
      connection.deadline = time_after(kHandshakeTimeout);
      connection.evictable = time_after(kLeastPatience);
      pending_.push_back(std::move(connection));
    }
  }

  /// Unless there was just no connection to take.
  void out_of_descriptors() {
    if (errno != EMFILE && errno != ENFILE) return;
    if (pending_.empty()) throw_errno("accept the connection of a rank", "raise ulimit -n");
    pending_.pop_front();
  }

  /// True when it is no longer pending: accepted, rejected or closed.
  bool advance(Connection& connection) {
    bool over = false;
    while (receive_line(connection.socket, connection.received, over)) {
      const std::string line = without_newline(std::exchange(connection.received, ""));
      if (connection.transcript) {
        check_proof(connection, line);
        return true;
      }
      if (!challenge(connection, line)) return true;
    }
    if (!over && TcpClock::now() < connection.deadline) return false;
    reject_silent(connection, over);
    return true;
  }

  void reject_silent(const Connection& connection, bool over) {
    if (connection.transcript) return reject(connection, "did not prove the group's secret");
    if (!over) return reject(connection, "no handshake received");
    if (!connection.received.empty()) reject(connection, "not a benchctl rank");
  }

  void reject(const Connection& connection, const std::string& why) {
    const std::string whole = in_words(connection.from) + " rejected: " + why;
    if (rejections_.size() >= kNamedRejections || !rejections_.insert(whole).second) return;
    say(Level::warning, whole);
  }

  /// Answers a handshake with our proof and the demand for theirs; false if it is none.
  bool challenge(Connection& connection, const std::string& line) {
    const auto read = parse_handshake(line);
    if (const auto* none = std::get_if<BadHandshake>(&read)) {
      if (!none->foreign) send_line(connection.socket, answer_line(none->reason));
      reject(connection, none->reason);
      return false;
    }
    connection.handshake = std::get<RankHandshake>(read);
    const std::string nonce = random_secret();
    connection.transcript.emplace(rendezvous_.secret, line, nonce);
    return send_line(connection.socket,
                     challenge_line({nonce, connection.transcript->proof_of_root()}));
  }

  void check_proof(Connection& connection, const std::string& line) {
    const auto proof = parse_proof(line);
    if (!proof || !same_secret(connection.transcript->proof_of_rank(), *proof))
      return reject(connection, "wrong proof of the group's secret");
    const RankHandshake& handshake = *connection.handshake;
    if (handshake.group != rendezvous_.group) {
      send_line(connection.socket, answer_line("this is another job's group"));
      return reject(connection, "of another job's group");
    }
    if (const std::string wrong = conflict_of(handshake); !wrong.empty())
      refuse_and_fail(connection, wrong);
    Peer& member = peers_[static_cast<std::size_t>(handshake.rank)];
    member = {std::move(connection.socket), handshake.host, connection.transcript->key_of_root(),
              connection.transcript->key_of_rank()};
    ++joined_;
  }

  /// Why a rank that has proven itself cannot join; empty if it can.
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
    send_line(connection.socket, answer_line(why));
    fail(why);
  }

  [[noreturn]] void fail(const std::string& why) {
    answer_all(why);
    for (const Connection& connection : pending_)  // who may be strangers
      send_line(connection.socket, answer_line("rank 0 gave up; its message says why"));
    throw Error(
        ErrorKind::environment, "rank rendezvous failed: " + why,
        "start all ranks from the same build, in the same job and with the same number of ranks");
  }

  /// Sends the result of the rendezvous to all accepted ranks.
  void answer_all(const std::string& refusal) {
    for (const Peer& member : peers_)
      if (member.socket.valid()) send_line(member.socket, answer_line(refusal));
  }

  std::string missing_ranks() const {
    std::vector<std::string> missing;
    for (std::size_t rank = 1; rank < peers_.size(); ++rank)
      if (!peers_[rank].socket.valid()) missing.push_back(std::to_string(rank));
    const std::size_t count = missing.size();
    if (count > kNamedRanks) missing.resize(kNamedRanks);
    std::string text =
        fmt::format("timed out: rank{} {}{} of {} did not connect to {} port {} within {:g} s",
                    count > 1 ? "s" : "", join(missing, ", "),
                    count > kNamedRanks ? fmt::format(" and {} more", count - kNamedRanks) : "",
                    rendezvous_.size, peers_[0].host, listening_port_, rendezvous_.timeout.value);
    for (const std::string& rejection : rejections_) text += "; " + rejection;
    return text;
  }

  const Rendezvous& rendezvous_;
  std::vector<Descriptor> listeners_;
  int listening_port_ = 0;
  std::vector<Peer> peers_;
  int joined_ = 1;
  std::list<Connection> pending_;  // oldest first
  std::set<std::string> rejections_;
};

}  // namespace

std::vector<Peer> accept_ranks(const Rendezvous& rendezvous) {
  return RankAcceptor(rendezvous).run();
}

}  // namespace bench
