#include "results/regression/exact_values.h"

#include <vector>

namespace bench {

std::optional<ExactChange> exact_change(const Member& member) {
  const auto& values = member.values;
  std::size_t at = values.size() - 1;
  while (at > 0 && values[at].value == values[at - 1].value) --at;
  if (at == 0) return {};
  Judged judged{&member, scale_of(member, false)};
  std::vector<double>& places = judged.history.values;
  for (const RunValue& value : values) places.push_back(judged.scale.of(value.value));
  judged.history.segments = {{0, at}, {places[at - 1], places[at]}};
  Change change{.at = at, .low = at, .high = at, .before = at, .after = values.size() - at};
  change.shift = change.shift_low = change.shift_high = places[at] - places[at - 1];
  change.p = 0.0;
  return ExactChange{std::move(judged), change};
}

}  // namespace bench
