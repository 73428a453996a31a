// What an hour of one device (on CPUs: host) costs, by product.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/compare/side.h"

namespace bench {

/// Dollars an hour by parts of a product's name, as `hardware:` takes them: "h100-sxm".
using Prices = std::map<std::string, double>;

/// Sets each side's price from its product name; the longest matching name wins. No price for a
/// side with differently priced or unknown products, nor for two sides with the same product, where
/// work per dollar adds nothing.
void set_prices(std::vector<Side>& sides, const Prices& prices);

}  // namespace bench
