#include "probes/object_storage/credentials.h"

#include <fstream>
#include <map>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::object_storage {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kFile = R"(# keys
[default]
aws_access_key_id = AKID
aws_secret_access_key=secret/key+=

[ other ]
AWS_ACCESS_KEY_ID=OTHER
aws_secret_access_key = other secret
region = somewhere
; comment
[token]
aws_access_key_id = AKIT
aws_secret_access_key = skt
aws_session_token = t==
)";

Variable from(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  };
}

template <class Work>
std::string refusal_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

}  // namespace

TEST_CASE("keys of a profile are read, whatever its line ends and comments") {
  const Credentials usual = parse_credentials(kFile, "default", "f");
  CHECK(usual.access_key == "AKID");
  CHECK(usual.secret_key == "secret/key+=");
  CHECK(usual.session_token.empty());
  const Credentials token = parse_credentials(kFile, "token", "f");
  CHECK(token.session_token == "t==");
  CHECK(parse_credentials(kFile, "none", "f").empty());
  CHECK(parse_credentials("[default]\r\naws_access_key_id=A\r\naws_secret_access_key=B", "default",
                          "f")
            .secret_key == "B");
  CHECK(parse_credentials("", "default", "f").empty());
}

TEST_CASE("a damaged file of keys is refused with its line, and never shown") {
  const auto refusal = [](const std::string& text) {
    return refusal_of([&] { parse_credentials(text, "default", "the/file"); });
  };
  CHECK_THAT(refusal("[default]\nSECRET"), Contains("the/file:2: neither a section nor"));
  CHECK_THAT(refusal("[default"), Contains("the/file:1: a section without"));
  CHECK_THAT(refusal("[default]\naws_access_key_id = A"), Contains("no secret key"));
  CHECK_THAT(refusal("[default]\naws_secret_access_key = SECRET"), Contains("no access key"));
  const std::string half = "[default]\naws_access_key_id = A\naws_secret_access_key = ";
  for (const std::string flaw : {"SEC RET", "SECRET\x01", "SECRET\rX: y", "SECR\xc3\x89T"}) {
    CHECK_THAT(refusal(half + flaw), Contains("control characters"));
    CHECK_THAT(refusal(half + flaw), !Contains("SEC"));
  }
  CHECK_THAT(refusal(std::string("\0\xff=[", 4) + "\n[default]x"), Contains("the/file:2"));
}

TEST_CASE("keys come from the environment, else from the file and profile that it names") {
  TemporaryDirectory folder;
  const std::string file = folder.path() / "keys";
  std::ofstream(file) << kFile;
  CHECK(find_credentials(from({{"AWS_ACCESS_KEY_ID", "A"},
                               {"AWS_SECRET_ACCESS_KEY", "S"},
                               {"AWS_SESSION_TOKEN", "T"},
                               {"AWS_SHARED_CREDENTIALS_FILE", file}}))
            .session_token == "T");
  CHECK(find_credentials(from({{"AWS_SHARED_CREDENTIALS_FILE", file}})).access_key == "AKID");
  CHECK(find_credentials(from({{"AWS_SHARED_CREDENTIALS_FILE", file}, {"AWS_PROFILE", "token"}}))
            .access_key == "AKIT");
  std::filesystem::create_directory(folder.path() / ".aws");
  CHECK(find_credentials(from({{"HOME", folder.path()}})).empty());
  std::filesystem::rename(file, folder.path() / ".aws/credentials");
  CHECK(find_credentials(from({{"HOME", folder.path()}})).access_key == "AKID");
  CHECK(find_credentials(from({})).empty());
}

TEST_CASE("half a pair of keys, a missing file and a missing profile are refused") {
  TemporaryDirectory folder;
  const auto refusal = [](const std::map<std::string, std::string>& variables) {
    return refusal_of([&] { find_credentials(from(variables)); });
  };
  CHECK_THAT(refusal({{"AWS_ACCESS_KEY_ID", "A"}}), Contains("no secret key"));
  CHECK_THAT(refusal({{"AWS_SECRET_ACCESS_KEY", "S"}}), Contains("no access key"));
  CHECK_THAT(refusal({{"AWS_SHARED_CREDENTIALS_FILE", "/no/such"}}),
             Contains("/no/such: cannot be read"));
  CHECK_THAT(refusal({{"HOME", folder.path()}, {"AWS_PROFILE", "p"}}), Contains("cannot be read"));
  std::ofstream(folder.path() / "keys") << kFile;
  CHECK_THAT(
      refusal({{"AWS_SHARED_CREDENTIALS_FILE", folder.path() / "keys"}, {"AWS_PROFILE", "p"}}),
      Contains("no keys for the profile 'p'"));
}

TEST_CASE("a server's words are shown without the keys") {
  const Credentials keys = {"AKID", "secret", "token"};
  CHECK(keys.hidden("AKID and secret, token; AKID") == "... and ..., ...; ...");
  CHECK(Credentials{}.hidden("as it is") == "as it is");
}

}  // namespace bench::object_storage
