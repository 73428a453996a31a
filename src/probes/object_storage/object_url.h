// URLs of an object store in path style: ENDPOINT/BUCKET/KEY. Everything is encoded the way
// Signature Version 4 canonicalises it, so that client and server sign the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::object_storage {

/// Letters, digits and "-._~" stay, everything else becomes %XX; '/' stays if `slashes`.
std::string url_encoded(std::string_view text, bool slashes);

class ObjectUrl {
 public:
  /// "http[s]://host[:port][/path]". Throws Error(input) for anything else: a user in it would be a
  /// secret in reports.
  ObjectUrl(const std::string& endpoint, const std::string& bucket);

  /// As given, without a '/' at the end.
  std::string endpoint() const { return origin_ + path_; }
  bool encrypted() const { return origin_.starts_with("https:"); }
  /// "http://host:port", to which a target is added.
  const std::string& origin() const { return origin_; }
  /// "host:port", as the header Host has it.
  std::string_view host() const;

  /// "/bucket/key".
  std::string of_key(std::string_view key) const;
  /// "/bucket?a=1&b=2": every parameter has a '=', and they are in the order of their names.
  std::string of_query(std::vector<std::pair<std::string, std::string>> parameters) const;

 private:
  std::string origin_, path_, bucket_;
};

}  // namespace bench::object_storage
