#include "probes/serving/serving_client.h"

#include <cmath>

#include "core/error.h"

#if BENCH_CURL
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/descriptor.h"
#include "core/elements.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "probes/shared/curl_library.h"

namespace bench::serving {
namespace {

constexpr long kConnectSeconds = 10;
constexpr std::size_t kMostAnswer = 64u << 20;  // bytes
constexpr rlim_t kOtherFiles = 64;              // open besides connections
constexpr Seconds kAfterFailure = {0.1};
constexpr Seconds kForever = {std::numeric_limits<double>::infinity()};

void check_multi(CURLMcode code) {
  if (code != CURLM_OK)
    throw Error(ErrorKind::environment, std::string("libcurl: ") + curl().multi_strerror(code));
}

timespec absolute(Seconds time) {
  const double whole = std::floor(time.value);
  return {static_cast<time_t>(whole), static_cast<long>((time.value - whole) * 1e9)};
}

}  // namespace

/// All transfers, driven by the readiness of their sockets (libcurl's multi_socket interface).
class ServingClient::Loop {
 public:
  explicit Loop(const ServerSetting& setting)
      : setting_(setting),
        sockets_(::epoll_create1(EPOLL_CLOEXEC)),
        alarm_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
        multi_(curl().multi_init()) {
    if (!sockets_.valid() || !alarm_.valid()) throw_errno("wait for the network");
    if (!multi_) throw Error(ErrorKind::environment, "curl_multi_init failed: out of memory");
    watch(alarm_.get(), EPOLLIN, EPOLL_CTL_ADD);
    set(CURLMOPT_SOCKETFUNCTION, &Loop::on_socket);
    set(CURLMOPT_SOCKETDATA, this);
    set(CURLMOPT_TIMERFUNCTION, &Loop::on_timer);
    set(CURLMOPT_TIMERDATA, this);
    add_header(common_, "Content-Type: application/json");
    add_header(common_, "Expect:");  // the body goes at once
    if (!setting_.api_key.empty()) add_header(common_, "Authorization: Bearer " + setting_.api_key);
  }

  ~Loop() {
    for (Transfer* one : open_) curl().multi_remove(multi_.get(), one->handle.get());
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// A body is posted to a path; without one, the path is read.
  RawAnswer alone(const std::string& path, const std::string& body) {
    send(path, body, {});
    while (finished_.empty()) wait_until(kForever);
    return take_finished().answer;
  }
  RawAnswer ask(const std::string& body) { return alone(path(), body); }

  Seconds run(const LoadSetting& load, Seconds start, const Maker& make, const Taker& take) {
    raise_file_limit(load.most_open);
    set(CURLMOPT_MAXCONNECTS, static_cast<long>(load.most_open));
    const Seconds begin = start + load.ramp, end = begin + load.duration, last = end + load.drain;
    Pace pace(load, start);
    std::optional<PlannedRequest> next;
    std::uint64_t number = load.first_number;
    std::int64_t measured = 0;         // under way
    Seconds full = {-kForever.value};  // when no connection was left, last
    std::optional<Seconds> cpu_before, cpu_after;
    const auto is_measured = [&](Seconds due) { return due >= begin && due < end; };
    for (;;) {
      const Seconds now = steady_now();
      if (!cpu_before && now >= begin) cpu_before = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
      if (!cpu_after && now >= end) cpu_after = cpu_time_of(CLOCK_THREAD_CPUTIME_ID);
      const bool all_ended = measured == 0 && pace.next() >= end;
      if (now >= last || (now >= end && all_ended)) break;
      const bool room = static_cast<int>(open_.size()) < load.most_open;
      if (!room) full = now;
      if (!next) next = make(number++);  // ahead of its time
      if (room && pace.next() <= now) {
        ServedRequest served{.output_tokens = next->output_tokens, .check = next->check};
        served.due = pace.next();
        served.measured = is_measured(served.due);
        served.waited = served.due <= full;
        measured += served.measured ? 1 : 0;
        send(path(), next->body, std::move(served));
        next.reset();
        pace.sent();
        wait_until(now);  // what the network has, also during a backlog
      } else {
        const Seconds border = now < begin ? begin : now < end ? end : last;
        wait_until(room ? std::min(border, pace.next()) : border);
      }
      while (!finished_.empty()) {
        ServedRequest served = take_finished();
        measured -= served.measured ? 1 : 0;
        pace.answered(served);
        take(std::move(served));
      }
    }
    // What never left for want of a connection has no answer either.
    for (; pace.next() < end; pace.sent()) {
      ServedRequest served{.waited = true, .unfinished = true};
      served.due = pace.next();
      served.sent = served.ended = last;
      served.measured = is_measured(served.due);
      take(std::move(served));
    }
    cut_off(take);
    return cpu_after.value_or(Seconds{}) - cpu_before.value_or(Seconds{});
  }

 private:
  /// When requests are due.
  class Pace {
   public:
    Pace(const LoadSetting& load, Seconds start) : rate_(load.rate), seed_(load.seed), due_(start) {
      if (is_open())
        sent();
      else
        for (int client = 0; client < load.clients; ++client) free_.insert(start);
    }
    Seconds next() const {
      if (is_open()) return due_;
      return free_.empty() ? kForever : *free_.begin();
    }
    void sent() {
      if (is_open())
        due_ += Seconds{exponential_gap(rate_, random_bits(seed_, drawn_++))};
      else
        free_.erase(free_.begin());
    }
    void answered(const ServedRequest& served) {
      const bool failed = !served.answer.problem.empty() || served.answer.status / 100 != 2;
      if (!is_open()) free_.insert(failed ? served.ended + kAfterFailure : served.ended);
    }

   private:
    bool is_open() const { return rate_ > 0.0; }

    double rate_;
    std::uint64_t seed_, drawn_ = 0;
    Seconds due_;                       // of an open loop
    std::multiset<Seconds> free_ = {};  // clients of a closed one, since when
  };

  struct FreeHandle {
    void operator()(CURL* handle) const { curl().cleanup(handle); }
  };
  struct FreeMulti {
    void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl().free_all(list); }
  };
  using Headers = std::unique_ptr<curl_slist, FreeList>;

  struct Transfer {
    std::unique_ptr<CURL, FreeHandle> handle = {};
    std::string body = {};
    ServedRequest served = {};
    std::array<char, CURL_ERROR_SIZE> errors = {};
  };

  static void add_header(Headers& headers, const std::string& line) {
    curl_slist* longer = curl().append(headers.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers.release());
    headers.reset(longer);
  }

  template <class Value>
  void set(CURLMoption option, Value value) {
    check_multi(curl().multi_setopt(multi_.get(), option, value));
  }
  template <class Value>
  static void set(Transfer& one, CURLoption option, Value value) {
    if (const CURLcode code = curl().setopt(one.handle.get(), option, value); code != CURLE_OK)
      throw Error(ErrorKind::environment, std::string("libcurl: ") + curl().strerror(code));
  }

  const char* path() const { return setting_.chat ? "/chat/completions" : "/completions"; }

  /// As many connections as the system allows; the others wait (LoadSetting::most_open).
  static void raise_file_limit(int most_open) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) throw_errno("read the limit of open files");
    const rlim_t wanted = static_cast<rlim_t>(most_open) + kOtherFiles;
    if (limit.rlim_cur >= wanted) return;
    if (limit.rlim_max < wanted)
      throw Error(ErrorKind::environment,
                  "at most " + std::to_string(limit.rlim_max) + " files may be open here",
                  "reduce most_open, or raise the limit (ulimit -n)");
    limit.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw_errno("raise the limit of open files");
  }

  void send(const std::string& path, const std::string& body, ServedRequest served) {
    Transfer& one = idle();
    curl().reset(one.handle.get());
    one.body = body;
    one.served = std::move(served);
    one.errors[0] = '\0';
    set(one, CURLOPT_ERRORBUFFER, one.errors.data());
    set(one, CURLOPT_PRIVATE, &one);
    set(one, CURLOPT_NOSIGNAL, 1L);
    set(one, CURLOPT_URL, (setting_.url + path).c_str());
    set(one, CURLOPT_PROXY, "");
    set(one, CURLOPT_FOLLOWLOCATION, 0L);
    set(one, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(one, CURLOPT_USERAGENT, "benchctl");
    set(one, CURLOPT_HTTPHEADER, common_.get());
    set(one, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(one, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(one, CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(setting_.stall.value)));
    set(one, CURLOPT_WRITEFUNCTION, &Loop::take_part);
    set(one, CURLOPT_WRITEDATA, &one);
    if (!setting_.ca_file.empty()) set(one, CURLOPT_CAINFO, setting_.ca_file.c_str());
    if (!body.empty()) {
      set(one, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(one.body.size()));
      set(one, CURLOPT_POSTFIELDS, one.body.data());
    }
    one.served.sent = steady_now();
    check_multi(curl().multi_add(multi_.get(), one.handle.get()));
    open_.push_back(&one);
  }

  Transfer& idle() {
    if (idle_.empty()) {
      auto fresh = std::make_unique<Transfer>();
      fresh->handle.reset(curl().init());
      if (!fresh->handle)
        throw Error(ErrorKind::environment, "curl_easy_init failed: out of memory");
      idle_.push_back(fresh.get());
      transfers_.push_back(std::move(fresh));
    }
    Transfer* one = idle_.back();
    idle_.pop_back();
    return *one;
  }

  /// Drives the transfers until the network has something or until a time.
  void wait_until(Seconds until) {
    set_alarm(until);
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_wait(sockets_.get(), events.data(), events.size(), -1);
    if (count < 0 && errno != EINTR) throw_errno("wait for the network");
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == alarm_.get()) {
        std::uint64_t expired = 0;
        if (::read(alarm_.get(), &expired, sizeof expired) < 0 && errno != EAGAIN)
          throw_errno("read a timer");
        continue;
      }
      const int readable = event.events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? CURL_CSELECT_IN : 0;
      const int writable = event.events & EPOLLOUT ? CURL_CSELECT_OUT : 0;
      act(event.data.fd, readable | writable);
    }
    if (curl_due_ <= steady_now()) {
      curl_due_ = kForever;
      act(CURL_SOCKET_TIMEOUT, 0);
    }
    collect();
  }

  void act(curl_socket_t socket, int what) {
    int running = 0;
    check_multi(curl().multi_action(multi_.get(), socket, what, &running));
  }

  void set_alarm(Seconds until) {
    const Seconds due = std::min(until, curl_due_);
    itimerspec time{};  // zeros switch it off
    if (due < kForever) time.it_value = absolute(due);
    if (::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &time, nullptr) != 0)
      throw_errno("set a timer");
  }

  void collect() {
    int left = 0;
    while (CURLMsg* message = curl().multi_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Transfer* one = nullptr;
      curl().getinfo(message->easy_handle, CURLINFO_PRIVATE, &one);
      const CURLcode code = message->data.result;
      RawAnswer& answer = one->served.answer;
      curl().getinfo(one->handle.get(), CURLINFO_RESPONSE_CODE, &answer.status);
      if (code != CURLE_OK) {
        answer.problem = printable(curl().strerror(code));
        answer.detail = printable(one->errors.data());
      }
      close(*one);
    }
  }

  void close(Transfer& one) {
    one.served.ended = steady_now();
    check_multi(curl().multi_remove(multi_.get(), one.handle.get()));
    std::erase(open_, &one);
    finished_.push_back(std::move(one.served));
    one.served = {};
    idle_.push_back(&one);
  }

  ServedRequest take_finished() {
    ServedRequest served = std::move(finished_.front());
    finished_.pop_front();
    return served;
  }

  void cut_off(const Taker& take) {
    while (!open_.empty()) {
      open_.back()->served.unfinished = true;
      curl().getinfo(open_.back()->handle.get(), CURLINFO_RESPONSE_CODE,
                     &open_.back()->served.answer.status);
      close(*open_.back());
    }
    while (!finished_.empty()) take(take_finished());
  }

  void watch(int descriptor, std::uint32_t events, int operation) const {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    if (::epoll_ctl(sockets_.get(), operation, descriptor, &event) != 0 &&
        operation != EPOLL_CTL_DEL)
      throw_errno("watch a connection");
  }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known) noexcept
      try {
    auto& loop = *static_cast<Loop*>(self);
    if (what == CURL_POLL_REMOVE) {
      loop.watch(socket, 0, EPOLL_CTL_DEL);
      return 0;
    }
    const std::uint32_t events = (what & CURL_POLL_IN ? std::uint32_t{EPOLLIN} : 0u) |
                                 (what & CURL_POLL_OUT ? std::uint32_t{EPOLLOUT} : 0u);
    loop.watch(socket, events, known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD);
    if (known == nullptr) check_multi(curl().multi_assign(loop.multi_.get(), socket, self));
    return 0;
  } catch (const Error&) {
    return -1;  // curl_multi_socket_action then fails
  }

  static int on_timer(CURLM*, long milliseconds, void* self) noexcept {
    auto& loop = *static_cast<Loop*>(self);
    loop.curl_due_ = milliseconds < 0
                         ? kForever
                         : steady_now() + Seconds{static_cast<double>(milliseconds) * 1e-3};
    return 0;
  }

  static std::size_t take_part(char* data, std::size_t, std::size_t bytes, void* self) noexcept {
    RawAnswer& answer = static_cast<Transfer*>(self)->served.answer;
    if (bytes > kMostAnswer - answer.body.size()) return 0;
    answer.body.append(data, bytes);
    answer.arrivals.push_back({steady_now(), answer.body.size()});
    return bytes;
  }

  ServerSetting setting_;
  Descriptor sockets_, alarm_;
  Headers common_ = {};
  std::vector<std::unique_ptr<Transfer>> transfers_ = {};  // before multi_: it must go first
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::vector<Transfer*> open_ = {}, idle_ = {};
  std::deque<ServedRequest> finished_ = {};
  Seconds curl_due_ = kForever;  // when libcurl wants to be called
};

std::string no_serving_client() { return curl().problem(); }

ServingClient::ServingClient(const ServerSetting& setting) {
  if (const std::string problem = no_serving_client(); !problem.empty())
    throw Error(ErrorKind::environment, problem);
  loop_ = std::make_unique<Loop>(setting);
}

ServingClient::~ServingClient() = default;

RawAnswer ServingClient::ask(const PlannedRequest& request) { return loop_->ask(request.body); }

RawAnswer ServingClient::get(const std::string& path) { return loop_->alone(path, ""); }

Seconds ServingClient::run(const LoadSetting& load, Seconds start, const Maker& make,
                           const Taker& take) {
  return loop_->run(load, start, make, take);
}

}  // namespace bench::serving

#else

namespace bench::serving {

class ServingClient::Loop {};

std::string no_serving_client() {
  return "built without libcurl; install libcurl4-openssl-dev (dnf: libcurl-devel) and rebuild";
}
ServingClient::ServingClient(const ServerSetting&) {
  throw Error(ErrorKind::environment, no_serving_client());
}
ServingClient::~ServingClient() = default;
RawAnswer ServingClient::ask(const PlannedRequest&) { return {}; }
RawAnswer ServingClient::get(const std::string&) { return {}; }
Seconds ServingClient::run(const LoadSetting&, Seconds, const Maker&, const Taker&) { return {}; }

}  // namespace bench::serving
#endif

namespace bench::serving {

double exponential_gap(double rate, std::uint64_t bits) {
  // (0, 1]: the logarithm of zero would be an infinite wait.
  const double uniform = (static_cast<double>(bits >> 11) + 1.0) * 0x1.0p-53;
  return -std::log(uniform) / rate;
}

}  // namespace bench::serving
