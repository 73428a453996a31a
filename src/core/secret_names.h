// Recognises environment variables that may hold a secret.
#pragma once

#include <string_view>

namespace bench {

/// Whether the name contains TOKEN, SECRET, PASS, PWD, KEY, CRED, AUTH, COOKIE or CERT, in any
/// case. A harmless variable that is hidden costs little; a secret that is stored costs much.
bool is_secret_name(std::string_view name);

/// Whether the value is a URL with a user or password: https://user:password@host.
bool has_credentials(std::string_view value);

}  // namespace bench
