#include "core/shared_json.h"

#include "tests/support/catch.h"

namespace bench {

TEST_CASE("copies share a value until one is changed") {
  SharedJson first = {{"cores", 2}, {"dtype", "f32"}};
  const SharedJson copy = first;
  CHECK(&copy.get() == &first.get());
  CHECK(copy == first);
  first.own()["cores"] = 4;
  CHECK(first.at("cores") == 4);
  CHECK(copy["cores"] == 2);
  CHECK_FALSE(copy == first);
  CHECK(copy == Json{{"cores", 2}, {"dtype", "f32"}});
}

TEST_CASE("default values are empty and independent") {
  SharedJson one;
  const SharedJson other;
  CHECK(one.get() == Json::object());
  one.own()["x"] = 1;
  CHECK(other.get() == Json::object());
}

TEST_CASE("a list of pairs is an object, and a missing key is an error") {
  const SharedJson one = {{"path", "/tmp"}};
  CHECK(one->is_object());
  CHECK_THROWS_AS(one.at("paths"), Json::exception);
}

}  // namespace bench
