// How the other ranks connect to rank 0.
#include <fmt/format.h>
#include <poll.h>

#include <span>

#include "core/error.h"
#include "core/text.h"
#include "core/version.h"
#include "probes/backends/tcp/greeting.h"
#include "probes/backends/tcp/meeting.h"
#include "probes/backends/tcp/receive_line.h"
#include "probes/backends/tcp/tcp_socket.h"
#include "probes/facts/system_files.h"

namespace bench {
namespace {

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
    throw Error(ErrorKind::environment,
                where + (over ? " closed the connection before all ranks had joined" : " does not answer"));
  if (!answer.ours)
    throw Error(ErrorKind::environment, "the listener for " + where + " is not a benchctl rank",
                "set BENCH_RENDEZVOUS=host:port to a free port");
  if (!answer.refusal.empty())
    throw Error(ErrorKind::environment, where + " refused the connection: " + answer.refusal);
  return rank_0;
}

}  // namespace bench
