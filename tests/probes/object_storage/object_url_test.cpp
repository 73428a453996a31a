#include "probes/object_storage/object_url.h"

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::object_storage {
namespace {

using Catch::Matchers::Contains;

std::string refusal_of_url(const std::string& endpoint) {
  try {
    ObjectUrl(endpoint, "bucket");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("keys are encoded but for letters, digits, '-', '.', '_', '~' and slashes") {
  CHECK(url_encoded("aZ09-._~", false) == "aZ09-._~");
  CHECK(url_encoded("a b/c+d", true) == "a%20b/c%2Bd");
  CHECK(url_encoded("a/b!*'()", false) == "a%2Fb%21%2A%27%28%29");
  CHECK(url_encoded("\xc3\xa4\n%", true) == "%C3%A4%0A%25");
}

TEST_CASE("an endpoint is split into what connects and what a request names") {
  const ObjectUrl plain("http://host:9000", "bucket");
  CHECK(plain.origin() == "http://host:9000");
  CHECK(plain.host() == "host:9000");
  CHECK_FALSE(plain.encrypted());
  CHECK(plain.of_key("p/k!") == "/bucket/p/k%21");
  const ObjectUrl deep("https://[::1]/gate/s3//", "b.c");
  CHECK(deep.endpoint() == "https://[::1]/gate/s3");
  CHECK(deep.host() == "[::1]");
  CHECK(deep.encrypted());
  CHECK(deep.of_key("k") == "/gate/s3/b.c/k");
}

TEST_CASE("the parameters of a query are encoded and in the order of their names") {
  const ObjectUrl url("http://host", "bucket");
  CHECK(url.of_query({}) == "/bucket");
  CHECK(url.of_query({{"prefix", "a/b c"}, {"continuation-token", "1+/="}, {"list-type", "2"}}) ==
        "/bucket?continuation-token=1%2B%2F%3D&list-type=2&prefix=a%2Fb%20c");
}

TEST_CASE("an endpoint that is no URL of a host is refused, and no password is repeated") {
  for (const char* endpoint :
       {"", "host:9000", "ftp://host", "http://", "http:///path", "http://:80", "http://host?a=b",
        "http://ho st", "http://host\r\nX: y", "HTTP://host"})
    CHECK_THAT(refusal_of_url(endpoint), Contains("is no URL of an object store"));
  const std::string said = refusal_of_url("http://user:password@host");
  CHECK_THAT(said, Contains("with a user or password"));
  CHECK_THAT(said, !Contains("user:"));
}

}  // namespace bench::object_storage
