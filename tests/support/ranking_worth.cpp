// For tests/training/ranking_peer_test.py: reads lines of {"scores", "probabilities", "k"} and
// answers each with the expected recall and NDCG of the k highest scores, and of the best ranking.
#include <iostream>
#include <string>
#include <vector>

#include "core/json.h"
#include "training/sources/ranking.h"

using namespace bench;

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json asked = parse_json(line, "stdin");
    const auto scores = asked.at("scores").get<std::vector<double>>();
    const auto probabilities = asked.at("probabilities").get<std::vector<double>>();
    const auto k = asked.at("k").get<std::size_t>();
    const auto worth = [&](const std::vector<double>& by) {
      return training::expected_worth(training::top_items(std::span(by), k), probabilities);
    };
    const auto [recall, ndcg] = worth(scores);
    const auto [best_recall, best_ndcg] = worth(probabilities);
    std::cout << Json{{"recall", recall},
                      {"ndcg", ndcg},
                      {"best_recall", best_recall},
                      {"best_ndcg", best_ndcg}}
                     .dump()
              << "\n";
  }
}
