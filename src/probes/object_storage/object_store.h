// One connection to a bucket of an S3-compatible object store, for one thread: requests one after
// another.
//
// A rank talks to the store directly: proxies of the environment are not used, because the rate of
// a proxy would be measured. Redirects are not followed: an answer from another host is not one of
// the endpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/units.h"
#include "probes/object_storage/credentials.h"
#include "probes/object_storage/object_url.h"
#include "probes/object_storage/s3_answers.h"

namespace bench::object_storage {

/// Why there is no client here, and what to install; "" if there is one. The first call opens
/// libcurl.
std::string no_client();
/// "libcurl/7.88.1 OpenSSL/3.0.19 ..."; "" without it.
std::string client_version();

struct StoreSetting {
  ObjectUrl url;
  std::string region = "us-east-1";
  Credentials credentials = {};
  std::string ca_file = {};  // "": those of the system
  Seconds stall = {60.0};    // without a byte in either direction, after which a request fails
};

/// How long a request took, including its repeats.
struct Exchange {
  Seconds latency = {};     // to the last byte
  Seconds first_byte = {};  // to the first byte of the answer
  int retries = 0;
};

/// Requests throw Error(environment) with method, URL and the server's words, and what to do. What
/// an overloaded or restarting store answers (429, 500, 502, 503, 504) and a connection that is
/// reset are no errors: the request is repeated up to five times, after waits that double.
class ObjectStore {
 public:
  /// Needs a no_client() that is "".
  explicit ObjectStore(const StoreSetting& setting);
  ~ObjectStore();
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;

  /// Opens the connection, so that the first request does not wait for it.
  void connect();

  Exchange put(std::string_view key, std::span<const std::byte> bytes);
  /// The whole object, or the part from `offset` on, of exactly this size.
  Exchange get(std::string_view key, std::span<std::byte> bytes);
  Exchange get_range(std::string_view key, std::uint64_t offset, std::span<std::byte> bytes);
  /// The object is there and has `bytes` bytes.
  Exchange head(std::string_view key, std::uint64_t bytes);
  Exchange remove(std::string_view key);
  /// A page of the keys that begin with `prefix`, from where an earlier one ended.
  Exchange list(std::string_view prefix, const std::string& continuation, ListPage& page);

 private:
  class Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace bench::object_storage
