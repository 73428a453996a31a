#include "training/detection/suppression.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"

namespace bench::training {

TEST_CASE("of detections of one class that overlap, the best one stays") {
  // Overlaps with the first: .667, .429; the second one also overlaps the third.
  const Box box{0, 0, 10, 10}, near{2, 0, 12, 10}, far{4, 0, 14, 10};
  const std::vector<Detection> kept =
      suppress({{far, 0, 0.5}, {near, 0, 0.7}, {box, 0, 0.9}, {near, 1, 0.2}});
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].box == box);
  CHECK(kept[1].box == far);  // what drops it is dropped itself
  CHECK(kept[2].label == 1);
}

TEST_CASE("suppression keeps the first of equal scores, and as many as asked") {
  const Box box{0, 0, 10, 10}, other{100, 0, 110, 10}, third{200, 0, 210, 10};
  const std::vector<Detection> all{
      {box, 0, 0.5}, {{1, 0, 11, 10}, 0, 0.5}, {other, 0, 0.5}, {third, 0, 0.4}};
  const std::vector<Detection> kept = suppress(all, {0.5, 2});
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].box == box);
  CHECK(kept[1].box == other);
  CHECK(suppress(all, {0.9, 100}).size() == 4);
  CHECK(suppress(all, {0.9, 100, 3}).size() == 3);
  CHECK(suppress({{box, 0, std::nan("")}}).empty());
}

}  // namespace bench::training
