#include "probes/object_storage/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "core/error.h"
#include "core/system_files.h"
#include "core/text.h"

namespace bench::object_storage {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;
/// Anything else could end a header, or belongs to no key.
bool is_key(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// "" for a missing half, else what is wrong.
std::string flaw_of(const Credentials& found) {
  if (found.access_key.empty() != found.secret_key.empty())
    return found.access_key.empty() ? "has a secret key, but no access key"
                                    : "has an access key, but no secret key";
  if (!is_key(found.access_key) || !is_key(found.secret_key) || !is_key(found.session_token))
    return "has a key with blanks, control characters or bytes that are not ASCII";
  return "";
}

Credentials checked(Credentials found, const std::string& where) {
  if (const std::string flaw = flaw_of(found); !flaw.empty())
    throw Error(ErrorKind::input, where + " " + flaw);
  return found;
}

}  // namespace

std::string Credentials::hidden(std::string text) const {
  for (const std::string* one : {&secret_key, &session_token, &access_key}) hide(text, *one);
  return text;
}

Credentials parse_credentials(std::string_view text, std::string_view profile,
                              const std::string& file) {
  Credentials found;
  bool inside = false;
  int number = 0;
  const auto refuse = [&](const char* why) {
    throw Error(ErrorKind::input, fmt::format("{}:{}: {}", file, number, why),
                "write lines as [profile] and key = value");
  };
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      if (line.back() != ']') refuse("a section without ']'");
      inside = trim(line.substr(1, line.size() - 2)) == profile;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) refuse("neither a section nor a key and a value");
    if (!inside) continue;
    const std::string key = to_lower(trim(line.substr(0, equals)));
    const std::string value(trim(line.substr(equals + 1)));
    if (key == "aws_access_key_id") found.access_key = value;
    if (key == "aws_secret_access_key") found.secret_key = value;
    if (key == "aws_session_token") found.session_token = value;
  }
  return checked(std::move(found), fmt::format("{}: profile '{}'", file, printable(profile)));
}

Credentials find_credentials(const Variable& variable) {
  Credentials found = {variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                       variable("AWS_SESSION_TOKEN")};
  if (!found.access_key.empty() || !found.secret_key.empty())
    return checked(std::move(found), "the environment");

  const std::string named = variable("AWS_SHARED_CREDENTIALS_FILE");
  const std::string chosen = variable("AWS_PROFILE");
  const std::string home = variable("HOME");
  if (named.empty() && home.empty()) return {};
  const std::filesystem::path file = named.empty()
                                         ? std::filesystem::path(home) / ".aws/credentials"
                                         : std::filesystem::path(named);
  const std::filesystem::path whole = std::filesystem::absolute(file);
  const auto text = SystemFiles("/").bytes(whole.relative_path().string(), kMostBytes);
  if (!text) {
    if (named.empty() && chosen.empty()) return {};
    throw Error(ErrorKind::input, file.string() + ": cannot be read",
                "unset AWS_SHARED_CREDENTIALS_FILE and AWS_PROFILE, or create the file");
  }
  found = parse_credentials(*text, chosen.empty() ? "default" : chosen, file.string());
  if (found.empty() && !chosen.empty())
    throw Error(ErrorKind::input, fmt::format("{}: no keys for the profile '{}' of AWS_PROFILE",
                                              file.string(), printable(chosen)));
  return found;
}

}  // namespace bench::object_storage
