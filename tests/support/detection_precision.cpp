// For tests/training/detection_peer_test.py: reads lines of {"classes", "images": [{"truths":
// [[left, top, right, bottom, class, ignored], ...], "detections": [[left, top, right, bottom,
// class, score], ...]}, ...]} and answers each with COCO's numbers, null where there are none.
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "core/json.h"
#include "training/detection/average_precision.h"

using namespace bench;

namespace {

training::Box box_of(const std::vector<double>& numbers) {
  return {numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3)};
}

training::JudgedImage image_of(const Json& asked) {
  training::JudgedImage image;
  for (const Json& one : asked.at("truths")) {
    const auto numbers = one.get<std::vector<double>>();
    image.truths.push_back(
        {box_of(numbers), static_cast<int>(numbers.at(4)), numbers.at(5) != 0.0});
  }
  for (const Json& one : asked.at("detections")) {
    const auto numbers = one.get<std::vector<double>>();
    image.detections.push_back({box_of(numbers), static_cast<int>(numbers.at(4)), numbers.at(5)});
  }
  return image;
}

Json number(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json asked = parse_json(line, "stdin");
    std::vector<training::JudgedImage> images;
    for (const Json& one : asked.at("images")) images.push_back(image_of(one));
    const auto made = training::mean_precision(images, asked.at("classes").get<int>());
    std::cout << Json{{"all", number(made.all)},       {"at_50", number(made.at_50)},
                      {"at_75", number(made.at_75)},   {"small", number(made.small)},
                      {"medium", number(made.medium)}, {"large", number(made.large)},
                      {"recall", number(made.recall)}}
                     .dump()
              << "\n";
  }
}
