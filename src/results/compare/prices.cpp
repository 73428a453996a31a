#include "results/compare/prices.h"

#include <optional>
#include <set>

namespace bench {
namespace {

std::optional<double> price_of(const std::string& product, const Prices& prices) {
  std::optional<double> price;
  std::size_t longest = 0;
  for (const auto& [name, dollars] : prices)
    if (name.size() > longest && is_product(product, name)) {
      longest = name.size();
      price = dollars;
    }
  return price;
}

std::optional<double> price_of(const Side& side, const Prices& prices) {
  std::set<std::optional<double>> found;
  for (const std::string& product : hardware_of(side)) found.insert(price_of(product, prices));
  return found.size() == 1 ? *found.begin() : std::nullopt;
}

}  // namespace

void set_prices(std::vector<Side>& sides, const Prices& prices) {
  if (sides.size() == 2 && hardware_of(sides[0]) == hardware_of(sides[1])) return;
  for (Side& side : sides) side.price = price_of(side, prices);
}

}  // namespace bench
