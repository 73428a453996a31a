#include "tests/probes/serving/stand_in_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <queue>
#include <vector>

#include "core/elements.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "devices/host_clock.h"

namespace bench::serving {
namespace {

std::string chunk(const std::string& text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}
/// What OpenAI's interface has in every event.
std::string event(Json value) {
  value["id"] = "stand-in-1";
  value["object"] = "text_completion";
  value["created"] = 1;
  value["model"] = "stand-in";
  return chunk("data: " + dump(value) + "\n\n");
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 7;
  for (const char c : text) hash = random_bits(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

class StandInServer::Loop {
 public:
  Loop(StandInServer& owner, const StandInSetting& setting)
      : owner_(owner),
        setting_(setting),
        events_(demand(::epoll_create1(0))),
        listener_(demand(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0))),
        alarm_(demand(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK))),
        stop_(demand(::eventfd(0, 0))) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    demand(::bind(listener_, where, size));
    demand(::listen(listener_, 4096));
    demand(::getsockname(listener_, where, &size));
    port_ = ntohs(address.sin_port);
    for (const int one : {listener_, alarm_, stop_}) watch(one);
  }
  ~Loop() {
    for (const auto& [socket, connection] : connections_) ::close(socket);
    for (const int one : {events_, listener_, alarm_, stop_}) ::close(one);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  int port() const { return port_; }
  const std::vector<double>& late() const { return late_; }
  void stop() const {
    const std::uint64_t one = 1;
    demand(static_cast<int>(::write(stop_, &one, sizeof one)));
  }

  void run() {
    std::array<epoll_event, 64> ready{};
    for (;;) {
      set_alarm();
      const int count = ::epoll_wait(events_, ready.data(), ready.size(), -1);
      for (int i = 0; i < count; ++i) {
        const int from = ready[static_cast<std::size_t>(i)].data.fd;
        if (from == stop_) return;
        if (from == listener_)
          accept_all();
        else if (from == alarm_)
          clear_alarm();
        else
          receive(from);
      }
      while (!steps_.empty() && steps_.top().at <= steady_now()) {
        const Step step = steps_.top();
        steps_.pop();
        advance(step.socket, step.serial);
      }
    }
  }

 private:
  struct Request {
    std::string prompt = {};
    int tokens = 0, sent = 0;
    bool chat = false, active = false, faulty = false;
    std::uint64_t words = 0;
    Seconds begun = {};
  };
  struct Connection {
    std::string input = {};
    std::optional<Request> request = {};
    std::uint64_t serial = 0;  // of the request, so that steps of an earlier one are ignored
  };
  struct Step {
    Seconds at;
    int socket;
    std::uint64_t serial;
    bool operator<(const Step& other) const { return at > other.at; }
  };

  static int demand(int result) {
    if (result < 0) throw_errno("serve a test");
    return result;
  }

  void watch(int descriptor) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    demand(::epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &event));
  }

  void set_alarm() const {
    itimerspec time{};
    if (!steps_.empty()) {
      const double at = steps_.top().at.value;
      time.it_value = {static_cast<time_t>(at), static_cast<long>((at - std::floor(at)) * 1e9)};
    }
    demand(::timerfd_settime(alarm_, TFD_TIMER_ABSTIME, &time, nullptr));
  }

  void clear_alarm() {
    if (::read(alarm_, &expired_, sizeof expired_) < 0 && errno != EAGAIN)
      throw_errno("read a timer");
  }

  void accept_all() {
    for (int socket; (socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      const int yes = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      connections_[socket];
      watch(socket);
    }
  }

  void receive(int socket) {
    Connection& connection = connections_[socket];
    std::array<char, 65536> part{};
    const auto bytes = ::read(socket, part.data(), part.size());
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) return close(socket);
    connection.input.append(part.data(), static_cast<std::size_t>(bytes));
    const std::size_t head = connection.input.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const std::string headers = to_lower(connection.input.substr(0, head));
    std::size_t body = 0;
    if (const auto at = headers.find("content-length: "); at != std::string::npos)
      body = std::stoul(headers.substr(at + 16));
    if (connection.input.size() < head + 4 + body) return;
    const std::string first = connection.input.substr(0, connection.input.find("\r\n"));
    const std::string text = connection.input.substr(head + 4, body);
    const bool has_key =
        setting_.key.empty() ||
        connection.input.find("Authorization: Bearer " + setting_.key + "\r\n") < head;
    connection.input.clear();
    answer(socket, connection, first, text, has_key);
  }

  void answer(int socket, Connection& connection, const std::string& first, const std::string& text,
              bool has_key) {
    if (!has_key)
      return send_whole(socket, "401 Unauthorized",
                        {{"error", {{"message", "Invalid key " + setting_.key}}}});
    if (first.starts_with("GET /v1/models "))
      return send_whole(socket, "200 OK", {{"data", Json::array({{{"id", "stand-in"}}})}});
    if (first.starts_with("GET /health ")) return send_whole(socket, "200 OK", Json::object());
    const bool chat = first.starts_with("POST /v1/chat/completions ");
    if (!chat && !first.starts_with("POST /v1/completions "))
      return send_whole(socket, "404 Not Found", {{"detail", "Not Found"}});
    const Json asked = parse_json(text, "request");
    if (asked.contains("ignore_eos") && !setting_.knows_ignore_eos)
      return send_whole(socket, "400 Bad Request",
                        {{"error", {{"message", "Unrecognized request argument: ignore_eos"}}}});
    Request request;
    request.chat = chat;
    request.prompt = chat ? asked.at("messages").at(0).at("content") : asked.at("prompt");
    request.tokens = asked.at("max_tokens");
    const int number = ++owner_.requests_;
    request.faulty = request.tokens > 1 && setting_.fault != ServerFault::none &&
                     ++candidates_ % setting_.fault_every == 0;
    request.words = hash_of(request.prompt);
    if (setting_.forgets) request.words += static_cast<std::uint64_t>(number);
    if (request.faulty && setting_.fault == ServerFault::overloaded)
      return send_whole(socket, "503 Service Unavailable", {{"error", "overloaded"}});
    connection.request = std::move(request);
    connection.serial = ++serials_;
    if (setting_.most_at_once > 0 && active_ >= setting_.most_at_once)
      waiting_.push_back({{}, socket, connection.serial});
    else
      begin(socket, connection);
  }

  void begin(int socket, Connection& connection) {
    Request& request = *connection.request;
    request.active = true;
    ++active_;
    owner_.most_under_way_ = std::max<int>(owner_.most_under_way_, active_);
    if (setting_.changes_under_load) request.words += active_ > 1 ? 1 : 0;
    request.begun = steady_now();
    if (!request.faulty || setting_.fault != ServerFault::silent)
      send(socket,
           "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
           "chunked\r\n\r\n" +
               (request.chat
                    ? event({{"choices", Json::array({{{"delta", {{"role", "assistant"}}}}})}})
                    : ""));
    plan(socket, connection);
  }

  void plan(int socket, const Connection& connection) {
    const Request& request = *connection.request;
    if (request.faulty && setting_.fault == ServerFault::silent) return;
    steps_.push({request.begun + setting_.first_token + setting_.per_token * request.sent, socket,
                 connection.serial});
  }

  /// The next token of a request, or its end.
  void advance(int socket, std::uint64_t serial) {
    const auto found = connections_.find(socket);
    if (found == connections_.end() || found->second.serial != serial || !found->second.request)
      return;
    Request& request = *found->second.request;
    const ServerFault fault = request.faulty ? setting_.fault : ServerFault::none;
    if (fault == ServerFault::without_text) return finish(socket, found->second, "length");
    if (request.sent == 1 && fault == ServerFault::broken_off) return close(socket);
    if (request.sent == 1 && fault == ServerFault::garbage) send(socket, chunk("data: {oops\n\n"));
    if (request.sent == 1 && fault == ServerFault::error_event)
      send(socket, event({{"error", {{"message", "out of blocks"}}}}));
    const std::string word = fmt::format(
        " w{}", random_bits(request.words, static_cast<std::uint64_t>(request.sent)) % 10'000);
    Json choice = {{"index", 0}, {"finish_reason", nullptr}};
    if (request.chat)
      choice["delta"] = {{"content", word}};
    else
      choice["text"] = word;
    send(socket, event({{"choices", Json::array({choice})}, {"usage", nullptr}}));
    if (request.sent == 0)
      late_.push_back((steady_now() - request.begun - setting_.first_token).value);
    ++request.sent;
    const bool early = fault == ServerFault::ends_early && request.sent * 2 >= request.tokens;
    if (request.sent >= request.tokens || early)
      return finish(socket, found->second, early ? "stop" : "length");
    plan(socket, found->second);
  }

  void finish(int socket, Connection& connection, const char* why) {
    const Request& request = *connection.request;
    const auto words = 1 + std::ranges::count(request.prompt, ' ');
    Json last = {{"choices", Json::array({{{"text", ""}, {"finish_reason", why}}})}};
    std::string text = event(last);
    if (setting_.fault != ServerFault::without_count)
      text += event({{"choices", Json::array()},
                     {"usage",
                      {{"prompt_tokens", kTokensPerWord * words + kMoreTokens},
                       {"completion_tokens", request.sent}}}});
    send(socket, text + chunk("data: [DONE]\n\n") + "0\r\n\r\n");
    end(connection);
  }

  void end(Connection& connection) {
    if (connection.request && connection.request->active) --active_;
    connection.request.reset();
    while (!waiting_.empty() && active_ < setting_.most_at_once) {
      const Step next = waiting_.front();
      waiting_.pop_front();
      const auto found = connections_.find(next.socket);
      if (found != connections_.end() && found->second.serial == next.serial &&
          found->second.request)
        begin(next.socket, found->second);
    }
  }

  void close(int socket) {
    Connection connection = std::move(connections_[socket]);
    connections_.erase(socket);
    ::close(socket);
    end(connection);
  }

  void send_whole(int socket, const std::string& status, const Json& body) const {
    const std::string text = dump(body);
    send(socket, fmt::format("HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: "
                             "{}\r\n\r\n{}",
                             status, text.size(), text));
  }

  void send(int socket, const std::string& text) const {
    const std::size_t step = setting_.in_small_pieces ? 2 : text.size();
    for (std::size_t at = 0; at < text.size(); at += step)
      static_cast<void>(
          ::send(socket, text.data() + at, std::min(step, text.size() - at), MSG_NOSIGNAL));
  }

  StandInServer& owner_;
  const StandInSetting setting_;
  int events_, listener_, alarm_, stop_;
  int port_ = 0, active_ = 0, candidates_ = 0;
  std::uint64_t serials_ = 0, expired_ = 0;
  std::map<int, Connection> connections_ = {};
  std::priority_queue<Step> steps_ = {};
  std::deque<Step> waiting_ = {};
  std::vector<double> late_ = {};
};

StandInServer::StandInServer(const StandInSetting& setting)
    : loop_(std::make_unique<Loop>(*this, setting)), thread_([this] { loop_->run(); }) {}

StandInServer::~StandInServer() { stop(); }

void StandInServer::stop() {
  if (!thread_.joinable()) return;
  loop_->stop();
  thread_.join();
}

std::vector<double> StandInServer::first_token_lateness() {
  stop();
  return loop_->late();
}

std::string StandInServer::url() const {
  return fmt::format("http://127.0.0.1:{}/v1", loop_->port());
}

}  // namespace bench::serving
