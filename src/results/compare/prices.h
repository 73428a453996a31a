// What an hour of one device (on CPUs: host) costs, by product.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/compare/side.h"

namespace bench {

/// Dollars an hour by parts of a product's name, as `hardware:` takes them: "h100-sxm".
using Prices = std::map<std::string, double>;

/// Each side the price of its product; the longest name that fits counts. A side whose products
/// cost differently, or that names none, gets none. Two sides of one product get none either: then
/// work per dollar says nothing that work does not.
void set_prices(std::vector<Side>& sides, const Prices& prices);

}  // namespace bench
