// Signature Version 4 of requests to S3 (AWS: "Create a signed AWS API request"). Our own, because
// libcurl's depends on its version: 7.88 signs an "Expect:" that only removes that header, and
// takes a query as it is.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "probes/object_storage/credentials.h"

namespace bench::object_storage {

/// A body that is not part of the signature: signing it means reading it twice.
inline constexpr const char* kUnsignedPayload = "UNSIGNED-PAYLOAD";

/// As it is sent. Path and query are encoded by url_encoded(), the query's parameters in the order
/// of their names.
struct RequestToSign {
  std::string method;
  std::string path;
  std::string query = {};
  /// By names in lower case: host and all that begin with x-amz-, x-amz-content-sha256 and
  /// x-amz-date ("20130524T000000Z") among them.
  std::map<std::string, std::string> headers = {};
};

/// The value of the header Authorization.
std::string authorization(const RequestToSign& request, const Credentials& credentials,
                          std::string_view region);

}  // namespace bench::object_storage
