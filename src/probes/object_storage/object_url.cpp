#include "probes/object_storage/object_url.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/secret_names.h"
#include "core/text.h"

namespace bench::object_storage {
namespace {

constexpr std::string_view kUnreserved = "-._~";

[[noreturn]] void refuse(const std::string& endpoint) {
  // What may hold a password is not repeated.
  const std::string shown =
      has_credentials(endpoint) ? "with a user or password" : "'" + printable(endpoint) + "'";
  throw Error(ErrorKind::input, "the endpoint " + shown + " is no URL of an object store",
              "write http://host:port or https://host, and put keys into AWS_ACCESS_KEY_ID and "
              "AWS_SECRET_ACCESS_KEY");
}

}  // namespace

std::string url_encoded(std::string_view text, bool slashes) {
  std::string encoded;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || kUnreserved.find(c) != std::string_view::npos ||
        (slashes && c == '/'))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

ObjectUrl::ObjectUrl(const std::string& endpoint, const std::string& bucket)
    : bucket_(url_encoded(bucket, false)) {
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("-._~:/[]").find(c) != std::string_view::npos;
  };
  const std::size_t host = endpoint.starts_with("http://")    ? 7
                           : endpoint.starts_with("https://") ? 8
                                                              : endpoint.size();
  const std::string_view rest = std::string_view(endpoint).substr(host);
  if (rest.empty() || rest.front() == '/' || rest.front() == ':' ||
      !std::ranges::all_of(rest, allowed))
    refuse(endpoint);
  origin_ = endpoint.substr(0, endpoint.find('/', host));
  path_ = endpoint.substr(origin_.size());
  while (path_.ends_with('/')) path_.pop_back();
}

std::string_view ObjectUrl::host() const {
  return std::string_view(origin_).substr(origin_.find("//") + 2);
}

std::string ObjectUrl::of_key(std::string_view key) const {
  return path_ + "/" + bucket_ + "/" + url_encoded(key, true);
}

std::string ObjectUrl::of_query(std::vector<std::pair<std::string, std::string>> parameters) const {
  std::ranges::sort(parameters);
  std::string query;
  for (const auto& [name, value] : parameters)
    query +=
        (query.empty() ? "?" : "&") + url_encoded(name, false) + "=" + url_encoded(value, false);
  return path_ + "/" + bucket_ + query;
}

}  // namespace bench::object_storage
