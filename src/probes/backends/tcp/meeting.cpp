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

constexpr Seconds kToGreet{5.0};            // then a silent stranger is turned away
constexpr std::size_t kMostStrangers = 64;  // that may stand there at once beside the ranks
constexpr std::size_t kNamedRanks = 8;
constexpr std::size_t kNamedStrangers = 8;

std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

/// One that has connected and not yet greeted.
struct Guest {
  Descriptor socket;
  Address from;
  std::string heard;
  TcpClock::time_point patience;
};

class Reception {
 public:
  explicit Reception(const Rendezvous& rendezvous)
      : rendezvous_(rendezvous), members_(static_cast<std::size_t>(rendezvous.size)) {
    members_[0].host = host_name();
  }

  std::vector<Member> run() {
    const std::vector<Descriptor> listeners = listen_at(rendezvous_.port, rendezvous_.interfaces);
    const auto deadline = time_after(rendezvous_.timeout);
    while (come_ < rendezvous_.size) {
      if (TcpClock::now() >= deadline) fail(who_is_missing());
      wait(listeners, deadline);
      for (const Descriptor& listener : listeners) let_in(listener);
      guests_.remove_if([&](Guest& guest) { return attend(guest); });
    }
    tell("");
    return std::move(members_);
  }

 private:
  void wait(const std::vector<Descriptor>& listeners, TcpClock::time_point deadline) const {
    std::vector<pollfd> all;
    for (const Descriptor& listener : listeners) all.push_back({listener.get(), POLLIN, 0});
    for (const Guest& guest : guests_) {
      all.push_back({guest.socket.get(), POLLIN, 0});
      deadline = std::min(deadline, guest.patience);
    }
    poll(all.data(), all.size(), milliseconds_to(deadline));
  }

  void let_in(const Descriptor& listener) {
    for (;;) {
      Guest guest;
      guest.socket = take_connection(listener, guest.from);
      if (!guest.socket.valid()) return;
      guest.patience = time_after(kToGreet);
      if (guests_.size() < members_.size() + kMostStrangers) guests_.push_back(std::move(guest));
    }
  }

  /// True when it is no guest any more: a member, or gone.
  bool attend(Guest& guest) {
    bool over = false;
    if (receive_line(guest.socket, guest.heard, over)) {
      judge(guest);
      return true;
    }
    if (over && !guest.heard.empty()) turn_away(guest, "not a benchctl rank");
    if (over || TcpClock::now() < guest.patience) return over;
    turn_away(guest, "no handshake received");
    return true;
  }

  void turn_away(const Guest& guest, const std::string& why) {
    const std::string whole = in_words(guest.from) + " rejected: " + why;
    if (strangers_.size() >= kNamedStrangers || !strangers_.insert(whole).second) return;
    say(Level::warning, whole);
  }

  void judge(Guest& guest) {
    const auto read = read_greeting(without_newline(guest.heard));
    if (const auto* none = std::get_if<NoGreeting>(&read)) {
      if (!none->stranger) send_all(guest.socket, bytes(answer_line(none->reason)));
      return turn_away(guest, none->reason);
    }
    const Greeting& greeting = std::get<Greeting>(read);
    if (!same_token(rendezvous_.token, greeting.token)) {
      send_all(guest.socket, bytes(answer_line("wrong token: this is another job's group")));
      return turn_away(guest, "wrong token");
    }
    if (const std::string wrong = against(greeting); !wrong.empty()) refuse(guest, wrong);
    Member& member = members_[static_cast<std::size_t>(greeting.rank)];
    member.socket = std::move(guest.socket);
    member.host = greeting.host;
    ++come_;
  }

  /// What speaks against one who knows the token; "" for nothing.
  std::string against(const Greeting& greeting) const {
    const std::string who = fmt::format("rank {} on {}", greeting.rank, printable(greeting.host));
    if (greeting.version != version())
      return fmt::format("{} has version {}, but rank 0 on {} has version {}", who,
                         printable(greeting.version), members_[0].host, version());
    if (greeting.size != rendezvous_.size)
      return fmt::format("{} expects {} ranks, but rank 0 expects {}", who, greeting.size,
                         rendezvous_.size);
    if (greeting.rank >= rendezvous_.size)
      return fmt::format("{} is out of range for {} ranks", who, rendezvous_.size);
    const Member& member = members_[static_cast<std::size_t>(greeting.rank)];
    if (greeting.rank == 0 || member.socket.valid())
      return fmt::format("duplicate rank {}: on {} and on {}", greeting.rank, member.host,
                         printable(greeting.host));
    return "";
  }

  [[noreturn]] void refuse(const Guest& guest, const std::string& why) {
    send_all(guest.socket, bytes(answer_line(why)));
    fail(why);
  }

  [[noreturn]] void fail(const std::string& why) {
    tell(why);
    throw Error(ErrorKind::environment, "rank rendezvous failed: " + why,
                "start all ranks from the same build, in the same job and with the same number of ranks");
  }

  /// The end of the meeting, to all that have come.
  void tell(const std::string& refusal) {
    for (const Member& member : members_)
      if (member.socket.valid()) send_all(member.socket, bytes(answer_line(refusal)));
  }

  std::string who_is_missing() const {
    std::vector<std::string> missing;
    for (std::size_t rank = 1; rank < members_.size(); ++rank)
      if (!members_[rank].socket.valid()) missing.push_back(std::to_string(rank));
    const std::size_t count = missing.size();
    if (count > kNamedRanks) missing.resize(kNamedRanks);
    std::string text = fmt::format(
        "timed out: rank{} {}{} of {} did not connect to {} port {} within {:g} s", count > 1 ? "s" : "",
        join(missing, ", "),
        count > kNamedRanks ? fmt::format(" and {} more", count - kNamedRanks) : "",
        rendezvous_.size, members_[0].host, rendezvous_.port, rendezvous_.timeout.value);
    for (const std::string& stranger : strangers_) text += "; " + stranger;
    return text;
  }

  const Rendezvous& rendezvous_;
  std::vector<Member> members_;
  int come_ = 1;
  std::list<Guest> guests_;
  std::set<std::string> strangers_;
};

}  // namespace

std::vector<Member> receive_ranks(const Rendezvous& rendezvous) {
  return Reception(rendezvous).run();
}

}  // namespace bench
