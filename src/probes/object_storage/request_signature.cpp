#include "probes/object_storage/request_signature.h"

#include <fmt/format.h>

#include "core/secret.h"
#include "core/sha256.h"

namespace bench::object_storage {

std::string authorization(const RequestToSign& request, const Credentials& credentials,
                          std::string_view region) {
  std::string headers, names;
  for (const auto& [name, value] : request.headers) {
    headers += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, request.query, headers,
                  names, request.headers.at("x-amz-content-sha256"));

  const std::string& time = request.headers.at("x-amz-date");
  const std::string date = time.substr(0, time.find('T'));
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", date, region);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, sha256(canonical));

  std::string key = "AWS4" + credentials.secret_key;
  for (const std::string_view part :
       {std::string_view(date), region, std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac_sha256(key, part);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                     credentials.access_key, scope, names, hex_digits(hmac_sha256(key, to_sign)));
}

}  // namespace bench::object_storage
