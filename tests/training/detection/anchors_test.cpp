// Anchors and what they should say, by hand.
#include "training/detection/anchors.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "training/kernels/detection_kernels.h"

namespace bench::training {

TEST_CASE("anchors lie around the pixels of each level, in all scales and ratios") {
  const AnchorShape shape{{{1, 2, 8.0, 16.0}, {1, 1, 16.0, 32.0}}, {1.0, 0.5}, {1.0, 4.0}};
  const std::vector<Box> anchors = make_anchors(shape);
  REQUIRE(anchors.size() == 3 * 4);
  CHECK(anchors[0] == Box{-7.5, -7.5, 8.5, 8.5});
  CHECK(anchors[1] == Box{-3.5, -15.5, 4.5, 16.5});  // four times as high as wide, the same area
  CHECK(anchors[2] == Box{-3.5, -3.5, 4.5, 4.5});
  CHECK(anchors[4] == Box{0.5, -7.5, 16.5, 8.5});
  CHECK(anchors[8] == Box{-15.5, -15.5, 16.5, 16.5});
}

TEST_CASE("an anchor is positive, ignored or background by its overlap with the best object") {
  // Overlaps of a box of 10 x 10 with one of the same size moved by 2, 4 and 5: .667, .429, .333.
  const std::vector<Box> anchors{{0, 0, 10, 10}, {2, 0, 12, 10}, {4, 0, 14, 10}, {5, 0, 15, 10}};
  const std::vector<Truth> truths{{{0, 0, 10, 10}, 2, false}};
  const MatchedAnchors matched = match_anchors(anchors, truths);
  CHECK(matched.classes == std::vector<std::int32_t>{2, 2, kIgnored, kBackground});
  CHECK(matched.positives == 2);
  CHECK(matched.boxes[1] == encode_box(anchors[1], truths[0].box));
  CHECK(matched.boxes[2] == std::array<double, 4>{});
}

TEST_CASE("the best anchor of an object is positive however little it overlaps") {
  const std::vector<Box> anchors{{0, 0, 40, 40}, {40, 0, 80, 40}};
  const std::vector<Truth> truths{{{12, 12, 20, 20}, 1, false}};
  const MatchedAnchors matched = match_anchors(anchors, truths);
  CHECK(matched.classes == std::vector<std::int32_t>{1, kBackground});
  // It belongs to the object that it overlaps most, even if it is the best of another one too.
  const std::vector<Truth> two{{{12, 12, 20, 20}, 1, false}, {{0, 0, 38, 40}, 0, false}};
  CHECK(match_anchors(anchors, two).classes[0] == 0);
}

TEST_CASE("background in an ignored region is ignored, an object there is not") {
  const std::vector<Box> anchors{{0, 0, 10, 10}, {20, 0, 30, 10}, {60, 0, 70, 10}};
  const std::vector<Truth> truths{{{0, 0, 50, 50}, 1, true}, {{0, 0, 10, 10}, 2, false}};
  CHECK(match_anchors(anchors, truths).classes ==
        std::vector<std::int32_t>{2, kIgnored, kBackground});
}

TEST_CASE("an image without objects has only background") {
  const std::vector<Box> anchors{{0, 0, 10, 10}};
  const MatchedAnchors matched = match_anchors(anchors, {});
  CHECK(matched.classes == std::vector<std::int32_t>{kBackground});
  CHECK(matched.positives == 0);
}

TEST_CASE("a box comes back from its encoding, and no answer gives an endless one") {
  const Box anchor{3, 4, 19, 12}, box{-2, 7, 31, 9};
  const Box back = decode_box(anchor, encode_box(anchor, box));
  CHECK(back.left == Approx(box.left));
  CHECK(back.top == Approx(box.top));
  CHECK(back.right == Approx(box.right));
  CHECK(back.bottom == Approx(box.bottom));
  CHECK(encode_box(anchor, {11, 8, 27, 24})[0] == Approx(0.5));
  CHECK(encode_box(anchor, {11, 8, 27, 24})[3] == Approx(std::log(2.0)));
  CHECK(decode_box(anchor, {0, 0, 1e9, 0}).width() == Approx(16.0 * 62.5));
}

}  // namespace bench::training
