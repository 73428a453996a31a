#include "probes/object_storage/s3_answers.h"

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::object_storage {
namespace {

using Catch::Matchers::Contains;

using Keys = std::vector<std::string>;

std::string list_of(const std::string& content) {
  return R"(<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)" +
         content + "</ListBucketResult>";
}

}  // namespace

TEST_CASE("a page of a list has its keys and where the next one begins") {
  const ListPage page =
      parse_list(list_of("<Name>b</Name><IsTruncated>true</IsTruncated><Contents><Key>a&amp;b/"
                         "&#39;&#x28;&lt;</Key><Size>1</Size></Contents>"
                         "<Contents>\n<ETag>&quot;Key&quot;</ETag><Key>c</Key></"
                         "Contents><NextContinuationToken>t/+=</NextContinuationToken>"));
  CHECK(page.keys == Keys{"a&b/'(<", "c"});
  CHECK(page.continuation == "t/+=");
  const ListPage last = parse_list(
      list_of("<IsTruncated>false</IsTruncated><NextContinuationToken>x</NextContinuationToken>"));
  CHECK(last.keys.empty());
  CHECK(last.continuation.empty());
}

TEST_CASE("what is no page of a list, or a truncated one, is refused") {
  for (const std::string& xml :
       {std::string(), std::string("<html>hello</html>"),
        std::string("<ListBucketResult><Contents>"), list_of("").substr(0, 60)})
    CHECK_THROWS_WITH(parse_list(xml), Contains("is no ListBucketResult"));
  CHECK_THROWS_WITH(parse_list(list_of("<IsTruncated>true</IsTruncated>")),
                    Contains("without a NextContinuationToken"));
  CHECK_THROWS_WITH(parse_list("\x1b[2J<x>"), Contains("\\x1b"));
}

TEST_CASE("odd characters and elements in a list are data") {
  CHECK(
      parse_list(
          list_of("<Contents><Key>a&unknown;&#0;&#9999999;&#</Key></Contents><Contents></Contents>"
                  "<Contents><Key>cut"))
          .keys == Keys{"a&unknown;&#0;&#9999999;&#", ""});
}

TEST_CASE("an error has code and message, safe to print and short") {
  CHECK(parse_error(
            "<Error><Code>NoSuchKey</Code><Message>It is &quot;gone&quot;.</Message></Error>") ==
        "NoSuchKey: It is \"gone\".");
  CHECK(parse_error("<Error><Code>Busy</Code></Error>") == "Busy");
  CHECK(parse_error("").empty());
  CHECK(parse_error("<html><title>502</title></html>").empty());
  CHECK_THAT(parse_error("<Code>a\x1b[31m</Code><Message>b\nc</Message>"),
             Contains("\\x1b") && Contains("\\x0a"));
  CHECK(parse_error("<Code>" + std::string(100000, 'x') + "</Code>").size() == 300);
}

}  // namespace bench::object_storage
