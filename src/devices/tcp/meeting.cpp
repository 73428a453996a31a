#include "devices/tcp/meeting.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/log.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/version.h"
#include "devices/tcp/rendezvous.h"
#include "devices/tcp/tcp_socket.h"

namespace bench {
namespace {

constexpr std::string_view kMarker = "#benchgroup ";
constexpr std::string_view kProtocol = "1";
constexpr std::size_t kWords = 6;
constexpr std::size_t kLongestWord = 255;

bool in_word(char c) { return c > ' ' && c <= '~'; }

std::string word(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !in_word(c); }, '?');
  if (text.empty()) return "-";
  return text.substr(0, kLongestWord);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto blank = line.find(' ');
    words.push_back(line.substr(0, blank));
    if (blank == std::string_view::npos || words.size() > kWords) return words;
    line.remove_prefix(blank + 1);
  }
}

/// -1 for anything but a number from 0 to `most`.
int number(std::string_view text, int most) {
  const auto value = parse_as<int>(text);
  return value && *value >= 0 && *value <= most ? *value : -1;
}

}  // namespace

std::string handshake_line(const RankHandshake& handshake) {
  std::string line(kMarker);
  line += kProtocol;
  for (const std::string& text : {handshake.version, std::to_string(handshake.size),
                                  std::to_string(handshake.rank), handshake.token, handshake.host})
    line += " " + word(text);
  return line + "\n";
}

std::variant<RankHandshake, BadHandshake> parse_handshake(std::string_view line) {
  if (line.size() >= kMaxHandshake || !line.starts_with(kMarker))
    return BadHandshake{"not a benchctl rank"};
  const auto words = fields_of(line.substr(kMarker.size()));
  if (words[0] != kProtocol)
    return BadHandshake{"handshake version " + printable(words[0].substr(0, 20)) +
                            ", but rank 0 has version " + std::string(kProtocol),
                        false};
  const bool complete =
      words.size() == kWords && std::ranges::all_of(words, [](auto one) {
        return !one.empty() && one.size() <= kLongestWord && std::ranges::all_of(one, in_word);
      });
  if (!complete) return BadHandshake{"malformed handshake"};
  RankHandshake handshake{std::string(words[1]), number(words[2], kMostRanks),
                          number(words[3], kMostRanks),
                          words[4] == "-" ? "" : std::string(words[4]), std::string(words[5])};
  if (handshake.size < 0 || handshake.rank < 0) return BadHandshake{"malformed handshake"};
  return handshake;
}

std::string answer_line(const std::string& refusal) {
  if (refusal.empty()) return std::string(kMarker) + "ok\n";
  const std::string line = std::string(kMarker) + "no " + printable(refusal);
  return line.substr(0, kMaxHandshake - 1) + "\n";
}

Answer parse_answer(std::string_view line) {
  if (!line.starts_with(kMarker)) return {};
  line.remove_prefix(kMarker.size());
  if (line == "ok") return {true, ""};
  if (!line.starts_with("no ") || line.size() == 3) return {};
  return {true, printable(line.substr(3))};
}

bool same_token(std::string_view ours, std::string_view theirs) {
  unsigned different = ours.size() == theirs.size() ? 0 : 1;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    different |= static_cast<unsigned char>(theirs[i] ^ (i < ours.size() ? ours[i] : '\0'));
  return different == 0;
}

namespace {

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

constexpr Seconds kAnswerTimeout{5.0};  // added to the rendezvous timeout

}  // namespace

Peer connect_to_root(const Rendezvous& rendezvous) {
  const auto deadline = time_after(rendezvous.timeout);
  Peer rank_0{connect_to(rendezvous.host, rendezvous.port, rendezvous.interfaces, deadline),
              rendezvous.host};
  const std::string handshake = handshake_line(
      {std::string(version()), rendezvous.size, rendezvous.rank, rendezvous.token, host_name()});
  std::string heard;
  bool over = !send_all(rank_0.socket, std::as_bytes(std::span(handshake)));
  const auto patience = deadline + (time_after(kAnswerTimeout) - TcpClock::now());
  bool answered = false;
  while (!over && !answered && TcpClock::now() < patience) {
    pollfd wait{rank_0.socket.get(), POLLIN, 0};
    poll(&wait, 1, milliseconds_to(patience));
    answered = receive_line(rank_0.socket, heard, over);
  }
  const std::string where =
      fmt::format("rank 0 at {} port {}", printable(rendezvous.host), rendezvous.port);
  const Answer answer = answered ? parse_answer(without_newline(heard)) : Answer{};
  if (!answered)
    throw Error(
        ErrorKind::environment,
        where + (over ? " closed the connection before all ranks had joined" : " does not answer"));
  if (!answer.ours)
    throw Error(ErrorKind::environment, "the listener for " + where + " is not a benchctl rank",
                "set BENCH_RENDEZVOUS=host:port to a free port");
  if (!answer.refusal.empty())
    throw Error(ErrorKind::environment, where + " refused the connection: " + answer.refusal);
  return rank_0;
}

namespace {

constexpr Seconds kHandshakeTimeout{5.0};  // then a silent connection is rejected
constexpr std::size_t kMaxPending = 64;    // connections beyond the ranks themselves
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
    if (const std::string wrong = conflict_of(handshake); !wrong.empty())
      refuse_and_fail(connection, wrong);
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
    throw Error(
        ErrorKind::environment, "rank rendezvous failed: " + why,
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
    std::string text =
        fmt::format("timed out: rank{} {}{} of {} did not connect to {} port {} within {:g} s",
                    count > 1 ? "s" : "", join(missing, ", "),
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
