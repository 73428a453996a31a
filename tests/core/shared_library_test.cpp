// Libraries opened at run time: one that is there, one that lacks a symbol, one that is not there.
#include "core/shared_library.h"

#include "tests/support/catch.h"

namespace bench {

TEST_CASE("functions of a library are found, and the first that it lacks is named") {
  SharedLibrary library("libm.so.6");
  REQUIRE(library.is_open());
  double (*cosine)(double) = nullptr;
  void (*none)() = nullptr, (*another)() = nullptr;
  library.find("cos", cosine);
  REQUIRE(cosine != nullptr);
  CHECK(cosine(0.0) == 1.0);
  CHECK(library.missing().empty());
  library.find("no_such_function", none);
  library.find("nor_this_one", another);
  CHECK(none == nullptr);
  CHECK(library.missing() == "no_such_function");
}

TEST_CASE("a library that cannot be opened says why") {
  const SharedLibrary library("libthat_is_not_there.so.1");
  CHECK_FALSE(library.is_open());
  CHECK_THAT(library.error(), Catch::Matchers::Contains("libthat_is_not_there.so.1"));
}

}  // namespace bench
