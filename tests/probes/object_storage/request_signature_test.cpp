#include "probes/object_storage/request_signature.h"

#include "tests/support/catch.h"

namespace bench::object_storage {
namespace {

using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;

// The examples of "Authenticating Requests: Using the Authorization Header" in the Amazon S3 API
// Reference.
const Credentials kExample = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              ""};
constexpr const char* kNoBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

RequestToSign example(const std::string& method, const std::string& path) {
  return {.method = method,
          .path = path,
          .headers = {{"host", "examplebucket.s3.amazonaws.com"},
                      {"x-amz-content-sha256", kNoBody},
                      {"x-amz-date", "20130524T000000Z"}}};
}

std::string signed_by(const RequestToSign& request) {
  return authorization(request, kExample, "us-east-1");
}

}  // namespace

TEST_CASE("the examples of S3's reference have their published signatures") {
  SECTION("a range of an object") {
    RequestToSign request = example("GET", "/test.txt");
    request.headers["range"] = "bytes=0-9";
    CHECK_THAT(
        signed_by(request),
        Equals("AWS4-HMAC-SHA256 "
               "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
               "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
               "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
  }
  SECTION("an object with a body and an encoded name") {
    RequestToSign request = example("PUT", "/test%24file.text");
    request.headers["date"] = "Fri, 24 May 2013 00:00:00 GMT";
    request.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
    request.headers["x-amz-content-sha256"] =
        "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    CHECK_THAT(signed_by(request), EndsWith("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd"
                                            "77a1b5971af0ece108bd"));
  }
  SECTION("a parameter without a value") {
    RequestToSign request = example("GET", "/");
    request.query = "lifecycle=";
    CHECK_THAT(signed_by(request), EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f"
                                            "91ac7a200a0136783543"));
  }
  SECTION("a list") {
    RequestToSign request = example("GET", "/");
    request.query = "max-keys=2&prefix=J";
    CHECK_THAT(signed_by(request), EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59d"
                                            "b6670ed5711ef69dc6f7"));
  }
}

}  // namespace bench::object_storage
