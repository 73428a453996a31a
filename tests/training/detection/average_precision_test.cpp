// COCO's mAP by hand; tests/training/detection_peer_test.py compares it with pycocotools.
#include "training/detection/average_precision.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"

namespace bench::training {
namespace {

/// 100 x 100: large; moved to the right by so much.
Box judged_box(double x, double moved = 0.0) { return {x + moved, 0, x + moved + 100, 100}; }

MeanPrecision judged(const std::vector<Truth>& truths, const std::vector<Detection>& detections) {
  return mean_precision({{truths, detections}}, 3);
}

}  // namespace

TEST_CASE("right answers have a precision of 1 at all overlaps") {
  const MeanPrecision made = judged({{judged_box(0), 0, false}, {judged_box(300), 1, false}},
                                    {{judged_box(0), 0, 0.3}, {judged_box(300), 1, 0.9}});
  CHECK(made.all == 1.0);
  CHECK(made.recall == 1.0);
  CHECK(made.large == 1.0);
  CHECK(std::isnan(made.small));
}

TEST_CASE("a box that is off counts up to its overlap") {
  // Moved by 20: 80 / 120 = .667, right at .50, .55, .60, .65.
  const MeanPrecision made = judged({{judged_box(0), 0, false}}, {{judged_box(0, 20), 0, 0.3}});
  CHECK(made.all == Approx(0.4));
  CHECK(made.at_50 == 1.0);
  CHECK(made.at_75 == 0.0);
}

TEST_CASE("wrong answers before right ones lower the precision from there on") {
  const std::vector<Truth> two{{judged_box(0), 0, false}, {judged_box(300), 0, false}};
  // Right, wrong, right: precision 1 up to a recall of .5 (51 of 101 recalls), then 2/3.
  CHECK(judged(two, {{judged_box(0), 0, 0.9}, {judged_box(600), 0, 0.8}, {judged_box(300), 0, 0.7}})
            .all == Approx((51.0 + 50.0 * 2.0 / 3.0) / 101.0));
  // Wrong, right: 1/2 up to a recall of .5.
  CHECK(judged(two, {{judged_box(600), 0, 0.9}, {judged_box(0), 0, 0.8}}).all ==
        Approx(51.0 * 0.5 / 101.0));
}

TEST_CASE("a second detection of an object is wrong, and the better one may come second") {
  const std::vector<Truth> one{{judged_box(0), 0, false}, {judged_box(300), 0, false}};
  const MeanPrecision made = judged(
      one, {{judged_box(0, 20), 0, 0.9}, {judged_box(0), 0, 0.8}, {judged_box(300), 0, 0.7}});
  // Below an overlap of .667 the second one is wrong; above, the first one is.
  CHECK(made.at_50 == Approx((51.0 + 50.0 * 2.0 / 3.0) / 101.0));
  CHECK(made.at_75 == Approx(101.0 * 2.0 / 3.0 / 101.0));
}

TEST_CASE("detections in an ignored region do not count, and each may be there") {
  const std::vector<Truth> truths{{judged_box(0), 0, false}, {{300, 0, 600, 100}, 0, true}};
  const std::vector<Detection> found{
      {judged_box(300), 0, 0.9}, {judged_box(400), 0, 0.8}, {judged_box(0), 0, 0.7}};
  CHECK(judged(truths, found).all == 1.0);
  // Half inside is enough at .50, not above; another class counts everywhere.
  CHECK(judged(truths, {{judged_box(250), 0, 0.9}, {judged_box(0), 0, 0.7}}).at_50 == 1.0);
  CHECK(judged(truths, {{judged_box(250), 0, 0.9}, {judged_box(0), 0, 0.7}}).at_75 == 0.5);
  CHECK(judged({{judged_box(0), 0, false}, {{300, 0, 600, 100}, 1, true}}, found).all < 0.5);
}

TEST_CASE("an object that counts is preferred to an ignored region that fits better") {
  const std::vector<Truth> truths{{judged_box(0, 20), 0, false}, {judged_box(0), 0, true}};
  CHECK(judged(truths, {{judged_box(0), 0, 0.9}}).at_50 == 1.0);
  CHECK(judged(truths, {{judged_box(0), 0, 0.9}}).at_75 == 0.0);
}

TEST_CASE("classes without objects do not count, and missing all is 0") {
  CHECK(judged({{judged_box(0), 0, false}}, {{judged_box(0), 2, 0.9}}).all == 0.0);
  CHECK(std::isnan(judged({}, {{judged_box(0), 0, 0.9}}).all));
}

TEST_CASE("only the best detections of an image and class count") {
  std::vector<Detection> found;
  for (int i = 0; i < 100; ++i) found.push_back({judged_box(1000 + 200 * i), 0, 0.9});
  found.push_back({judged_box(0), 0, 0.1});
  CHECK(judged({{judged_box(0), 0, false}}, found).all == 0.0);
  found[0].score = 0.05;
  CHECK(judged({{judged_box(0), 0, false}}, found).all == Approx(0.01));
}

TEST_CASE("areas divide objects, and detections of another area are not wrong") {
  const Box small{0, 0, 20, 20};
  const MeanPrecision made = judged({{small, 0, false}, {judged_box(300), 0, false}},
                                    {{small, 0, 0.5}, {judged_box(600), 0, 0.9}});
  CHECK(made.small == 1.0);  // the wrong one is large
  CHECK(made.large == 0.0);
}

}  // namespace bench::training
