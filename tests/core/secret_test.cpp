// HMAC-SHA-256 by the vectors of RFC 4231, random secrets, comparison.
#include "core/secret.h"

#include "tests/support/catch.h"

using namespace bench;

namespace {

std::string hmac_hex(const std::string& key, const std::string& text) {
  return hex_digits(hmac_sha256(key, text));
}

}  // namespace

TEST_CASE("HMAC-SHA-256 gives the results of RFC 4231") {
  CHECK(hmac_hex(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac_hex("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_hex(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  // A key longer than a block.
  CHECK(hmac_hex(std::string(131, '\xaa'),
                 "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac_hex(std::string(131, '\xaa'),
                 "This is a test using a larger than block-size key and a larger than block-size "
                 "data. The key needs to be hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("a text given in parts has the HMAC of the whole") {
  CHECK(Hmac("key").add("one ").add("").add("two").digest() == hmac_sha256("key", "one two"));
}

TEST_CASE("a random secret has 64 hex digits, and no two are equal") {
  const std::string secret = random_secret();
  CHECK(secret.size() == 64);
  CHECK(secret.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(secret != random_secret());
}

TEST_CASE("a secret is right when every character is") {
  CHECK(same_secret("abc", "abc"));
  CHECK(same_secret("", ""));
  for (const char* other : {"", "ab", "abd", "abcd", "ABC"}) CHECK_FALSE(same_secret("abc", other));
}
