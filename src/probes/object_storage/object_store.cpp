#include "probes/object_storage/object_store.h"

#include "core/error.h"

#if BENCH_CURL
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "core/text.h"
#include "core/time.h"
#include "devices/host_clock.h"
#include "probes/object_storage/request_signature.h"
#include "probes/shared/curl_library.h"

namespace bench::object_storage {
namespace {

constexpr int kMostRetries = 5;
constexpr Seconds kFirstWait = {0.05};
constexpr long kConnectSeconds = 10;
constexpr long kReceiveBytes = 512 << 10;  // the most that libcurl 7.88 takes
constexpr long kSendBytes = 512 << 10;
constexpr std::size_t kMostText = 16u << 20;  // of an answer that is no object
constexpr long kOk = 200, kPartialContent = 206, kUnauthorized = 401, kForbidden = 403,
               kNotFound = 404;
constexpr std::array<long, 5> kTransient = {429, 500, 502, 503, 504};

struct Request {
  const char* method;  // "GET"
  std::string target = {};
  std::span<const std::byte> body = {};
  std::span<std::byte> object = {};  // where the answer goes, if it is an object
  std::string range = {};            // "0-4095"
  bool may_be_missing = false;
};

bool succeeded(long status) { return status / 100 == 2; }

}  // namespace

class ObjectStore::Connection {
 public:
  explicit Connection(const StoreSetting& setting) : setting_(setting), handle_(curl().init()) {
    if (!handle_) throw Error(ErrorKind::environment, "curl_easy_init failed: out of memory");
  }

  const StoreSetting& setting() const { return setting_; }
  const std::string& text() const { return text_; }
  std::size_t received() const { return received_; }

  /// Repeats what is transient. The status is that of the last attempt.
  Exchange run(const Request& request) {
    Exchange exchange;
    const Seconds begin = steady_now();
    for (;; ++exchange.retries) {
      const Seconds attempt = steady_now();
      const CURLcode code = attempt_once(request);
      const bool last = exchange.retries == kMostRetries;
      if (last || !is_transient(code)) {
        demand_success(request, code, exchange.retries);
        exchange.first_byte = attempt - begin + first_byte_;
        exchange.latency = steady_now() - begin;
        return exchange;
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(
          kFirstWait.value * std::exp2(static_cast<double>(exchange.retries))));
    }
  }

  /// Whatever the server says.
  void greet(const Request& request) {
    const CURLcode code = attempt_once(request);
    if (code != CURLE_OK && !is_transient(code)) demand_success(request, code, 0);
  }

  long status() const { return status_; }
  std::int64_t announced_bytes() const { return announced_; }

  [[noreturn]] void refuse(const Request& request, const std::string& what,
                           const std::string& hint = {}) const {
    throw Error(ErrorKind::environment,
                setting_.credentials.hidden(std::string(request.method) + " " + url_of(request) +
                                            ": " + what),
                hint);
  }

 private:
  struct FreeHandle {
    void operator()(CURL* handle) const { curl().cleanup(handle); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl().free_all(list); }
  };

  void add_header(const std::string& line) {
    curl_slist* longer = curl().append(headers_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(headers_.release());
    headers_.reset(longer);
  }

  std::string url_of(const Request& request) const {
    return setting_.url.origin() + request.target;
  }

  void add_headers(const Request& request) {
    headers_.reset();
    add_header("Expect:");  // the body goes at once, not after the server has agreed to it
    if (setting_.credentials.empty()) return;
    const std::size_t question = request.target.find('?');
    RequestToSign to_sign{.method = request.method, .path = request.target.substr(0, question)};
    if (question != std::string::npos) to_sign.query = request.target.substr(question + 1);
    to_sign.headers = {{"host", std::string(setting_.url.host())},
                       {"x-amz-content-sha256", kUnsignedPayload},
                       {"x-amz-date", compact_time(now_ns())}};
    if (!setting_.credentials.session_token.empty())
      to_sign.headers["x-amz-security-token"] = setting_.credentials.session_token;
    for (const auto& [name, value] : to_sign.headers) add_header(name + ": " + value);
    add_header("Authorization: " + authorization(to_sign, setting_.credentials, setting_.region));
  }

  template <class Value>
  void set(CURLoption option, Value value) {
    check(curl().setopt(handle_.get(), option, value));
  }
  void check(CURLcode code) const {
    if (code != CURLE_OK)
      throw Error(ErrorKind::environment, std::string("libcurl: ") + curl().strerror(code));
  }

  /// All options each time, because a request must not inherit those of the one before it. The
  /// connection stays.
  void prepare(const Request& request) {
    curl().reset(handle_.get());
    errors_[0] = '\0';
    set(CURLOPT_ERRORBUFFER, errors_.data());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_URL, url_of(request).c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_USERAGENT, "benchctl");
    add_headers(request);
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(setting_.stall.value)));
    set(CURLOPT_BUFFERSIZE, kReceiveBytes);
#if LIBCURL_VERSION_NUM >= 0x073e00
    curl().setopt(handle_.get(), CURLOPT_UPLOAD_BUFFERSIZE, kSendBytes);  // 7.61 has none
#endif
    set(CURLOPT_WRITEFUNCTION, &Connection::take_answer);
    set(CURLOPT_WRITEDATA, this);
    if (!setting_.ca_file.empty()) set(CURLOPT_CAINFO, setting_.ca_file.c_str());
    if (!request.range.empty()) set(CURLOPT_RANGE, request.range.c_str());
    const std::string_view method = request.method;
    if (method == "PUT") {
      set(CURLOPT_UPLOAD, 1L);
      set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_READFUNCTION, &Connection::give_body);
      set(CURLOPT_READDATA, this);
      set(CURLOPT_SEEKFUNCTION, &Connection::seek_body);
      set(CURLOPT_SEEKDATA, this);
    } else if (method == "HEAD") {
      set(CURLOPT_NOBODY, 1L);
    } else if (method != "GET") {
      set(CURLOPT_CUSTOMREQUEST, request.method);
    }
  }

  CURLcode attempt_once(const Request& request) {
    prepare(request);
    body_ = request.body;
    sent_ = received_ = 0;
    object_ = request.object;
    overflow_ = false;
    text_.clear();
    status_ = 0;
    const CURLcode code = curl().perform(handle_.get());
    curl_off_t first = 0, announced = -1;
    check(curl().getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status_));
    check(curl().getinfo(handle_.get(), CURLINFO_STARTTRANSFER_TIME_T, &first));
    check(curl().getinfo(handle_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced));
    first_byte_ = {static_cast<double>(first) * 1e-6};
    announced_ = announced;
    return code;
  }

  bool is_transient(CURLcode code) const {
    if (code == CURLE_OK) return std::ranges::find(kTransient, status_) != kTransient.end();
    return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING;
  }

  void demand_success(const Request& request, CURLcode code, int retries) const {
    const std::string repeats = retries == 0 ? "" : fmt::format(", after {} repeats", retries);
    if (code == CURLE_PARTIAL_FILE && !overflow_)
      refuse(request,
             fmt::format("the connection ended after {} of {} bytes", received_, announced_),
             "look at the server's log");
    if (overflow_)
      refuse(request,
             fmt::format("status {}: more than the {} bytes that were asked for", status_,
                         object_.empty() ? kMostText : object_.size()),
             request.range.empty() ? "" : "the server may ignore Range: leave out range_get");
    if (code != CURLE_OK) refuse(request, reason_of(code) + repeats, hint_of(code));
    if (!succeeded(status_) && !(request.may_be_missing && status_ == kNotFound)) {
      const std::string said = parse_error(text_);
      refuse(request,
             fmt::format("{} {}{}", status_, said.empty() ? "without a reason" : said, repeats),
             hint_of(said));
    }
  }

  std::string reason_of(CURLcode code) const {
    if (code == CURLE_OPERATION_TIMEDOUT && status_ == 0 && errors_[0] == '\0') return "timed out";
    return printable(errors_[0] != '\0' ? errors_.data() : curl().strerror(code));
  }

  std::string hint_of(CURLcode code) const {
    switch (code) {
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_CONNECT:
        return "check 'endpoint', and that this host reaches it without a proxy";
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return "set 'ca_file' to the certificates that sign the server's";
      case CURLE_OPERATION_TIMEDOUT:
        return "the server does not answer: look at its log, or increase stall_s";
      default:
        return "";
    }
  }

  std::string hint_of(const std::string& said) const {
    const bool unsigned_requests = setting_.credentials.empty();
    if (said.starts_with("NoSuchBucket")) return "create the bucket, or correct 'bucket'";
    if (said.starts_with("RequestTimeTooSkewed")) return "set the clock of this host";
    if (said.starts_with("AuthorizationHeaderMalformed")) return "correct 'region'";
    if (status_ / 100 == 3) return "set 'endpoint' and 'region' to those of the bucket";
    if (status_ == kForbidden || status_ == kUnauthorized)
      return unsigned_requests
                 ? "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the ranks"
                 : "check the keys, 'region' and the rights of the keys on the bucket";
    return "";
  }

  std::size_t take(const char* data, std::size_t bytes) {
    if (status_ == 0)
      if (curl().getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status_) != CURLE_OK) return 0;
    const bool object = !object_.empty() && succeeded(status_);
    if (bytes > (object ? object_.size() - received_ : kMostText - text_.size())) {
      overflow_ = true;
      return 0;
    }
    if (object)
      std::memcpy(object_.data() + received_, data, bytes);
    else
      text_.append(data, bytes);
    received_ += bytes;
    return bytes;
  }

  static std::size_t take_answer(char* data, std::size_t, std::size_t bytes, void* self) noexcept {
    return static_cast<Connection*>(self)->take(data, bytes);
  }
  static std::size_t give_body(char* room, std::size_t, std::size_t bytes, void* self) noexcept {
    auto& one = *static_cast<Connection*>(self);
    const std::size_t now = std::min(bytes, one.body_.size() - one.sent_);
    std::memcpy(room, one.body_.data() + one.sent_, now);
    one.sent_ += now;
    return now;
  }
  /// libcurl begins again if a kept connection turns out to be closed.
  static int seek_body(void* self, curl_off_t offset, int origin) noexcept {
    auto& one = *static_cast<Connection*>(self);
    if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > one.body_.size())
      return CURL_SEEKFUNC_CANTSEEK;
    one.sent_ = static_cast<std::size_t>(offset);
    return CURL_SEEKFUNC_OK;
  }

  StoreSetting setting_;
  std::unique_ptr<CURL, FreeHandle> handle_;
  std::unique_ptr<curl_slist, FreeList> headers_ = {};
  std::array<char, CURL_ERROR_SIZE> errors_ = {};
  std::span<const std::byte> body_ = {};
  std::span<std::byte> object_ = {};
  std::size_t sent_ = 0, received_ = 0;
  bool overflow_ = false;
  std::string text_ = {};
  long status_ = 0;
  Seconds first_byte_ = {};
  std::int64_t announced_ = -1;
};

std::string no_client() { return curl().problem(); }
std::string client_version() { return no_client().empty() ? curl().version() : ""; }

ObjectStore::ObjectStore(const StoreSetting& setting)
    : connection_(std::make_unique<Connection>(setting)) {}
ObjectStore::~ObjectStore() = default;

void ObjectStore::connect() {
  // Every store answers this, with or without the right to list.
  connection_->greet({.method = "HEAD", .target = connection_->setting().url.of_query({})});
}

Exchange ObjectStore::put(std::string_view key, std::span<const std::byte> bytes) {
  return connection_->run(
      {.method = "PUT", .target = connection_->setting().url.of_key(key), .body = bytes});
}

Exchange ObjectStore::get(std::string_view key, std::span<std::byte> bytes) {
  const Request request = {
      .method = "GET", .target = connection_->setting().url.of_key(key), .object = bytes};
  const Exchange exchange = connection_->run(request);
  if (connection_->status() != kOk || connection_->received() != bytes.size())
    connection_->refuse(request,
                        fmt::format("status {} and {} bytes instead of {}", connection_->status(),
                                    connection_->received(), bytes.size()),
                        "the store lost a part of the object, or others write to the prefix");
  return exchange;
}

Exchange ObjectStore::get_range(std::string_view key, std::uint64_t offset,
                                std::span<std::byte> bytes) {
  const Request request = {.method = "GET",
                           .target = connection_->setting().url.of_key(key),
                           .object = bytes,
                           .range = fmt::format("{}-{}", offset, offset + bytes.size() - 1)};
  const Exchange exchange = connection_->run(request);
  const bool whole = connection_->status() == kOk && offset == 0;  // a range may be the whole
  if ((connection_->status() != kPartialContent && !whole) ||
      connection_->received() != bytes.size())
    connection_->refuse(request,
                        fmt::format("status {} and {} bytes instead of 206 and {}",
                                    connection_->status(), connection_->received(), bytes.size()),
                        "the server may ignore Range: leave out range_get");
  return exchange;
}

Exchange ObjectStore::head(std::string_view key, std::uint64_t bytes) {
  const Request request = {.method = "HEAD", .target = connection_->setting().url.of_key(key)};
  const Exchange exchange = connection_->run(request);
  if (connection_->announced_bytes() != static_cast<std::int64_t>(bytes))
    connection_->refuse(
        request, fmt::format("{} bytes instead of {}", connection_->announced_bytes(), bytes));
  return exchange;
}

Exchange ObjectStore::remove(std::string_view key) {
  // A repeat may find that the first attempt has removed it; most stores answer 204 then too.
  return connection_->run({.method = "DELETE",
                           .target = connection_->setting().url.of_key(key),
                           .may_be_missing = true});
}

Exchange ObjectStore::list(std::string_view prefix, const std::string& continuation,
                           ListPage& page) {
  std::vector<std::pair<std::string, std::string>> parameters = {{"list-type", "2"},
                                                                 {"prefix", std::string(prefix)}};
  if (!continuation.empty()) parameters.emplace_back("continuation-token", continuation);
  const Request request = {.method = "GET",
                           .target = connection_->setting().url.of_query(std::move(parameters))};
  const Exchange exchange = connection_->run(request);
  try {
    page = parse_list(connection_->text());
  } catch (const Error& error) {
    connection_->refuse(request, error.what(), error.hint());
  }
  return exchange;
}

}  // namespace bench::object_storage

#else  // without libcurl

namespace bench::object_storage {
namespace {

[[noreturn]] void refuse() { throw Error(ErrorKind::environment, no_client()); }

}  // namespace

std::string no_client() {
  return "built without libcurl; install libcurl4-openssl-dev (dnf: libcurl-devel) and rebuild";
}
std::string client_version() { return ""; }

class ObjectStore::Connection {};

ObjectStore::ObjectStore(const StoreSetting&) { refuse(); }
ObjectStore::~ObjectStore() = default;
void ObjectStore::connect() { refuse(); }
Exchange ObjectStore::put(std::string_view, std::span<const std::byte>) { refuse(); }
Exchange ObjectStore::get(std::string_view, std::span<std::byte>) { refuse(); }
Exchange ObjectStore::get_range(std::string_view, std::uint64_t, std::span<std::byte>) { refuse(); }
Exchange ObjectStore::head(std::string_view, std::uint64_t) { refuse(); }
Exchange ObjectStore::remove(std::string_view) { refuse(); }
Exchange ObjectStore::list(std::string_view, const std::string&, ListPage&) { refuse(); }

}  // namespace bench::object_storage
#endif
