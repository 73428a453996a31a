// The keys that sign requests to an object store, where S3's own tools look for them: in the
// environment, else in a file of profiles. They appear in no message.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace bench::object_storage {

struct Credentials {
  std::string access_key = {};
  std::string secret_key = {};
  std::string session_token = {};

  /// Without keys, requests are not signed.
  bool empty() const { return access_key.empty(); }

  /// A server's text without any of the keys.
  std::string hidden(std::string text) const;
};

/// The keys of a profile in the text of a file such as ~/.aws/credentials; `file` names it in
/// messages. Empty if there is no such profile. Throws Error(input) with the number of the line.
Credentials parse_credentials(std::string_view text, std::string_view profile,
                              const std::string& file);

/// A variable of the environment; "" if it is not set.
using Variable = std::function<std::string(const char* name)>;

/// From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; else from the profile
/// AWS_PROFILE, or default, of AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials. Throws
/// Error(input), also if a file or profile that a variable names is not there.
Credentials find_credentials(const Variable& variable);

}  // namespace bench::object_storage
