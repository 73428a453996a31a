#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "results/mlperf/score/entry_parts.h"

namespace bench::mlperf {
namespace {

/// Files have double precision; factors from other formulas differ by more.
constexpr double kSameFactor = 1e-9;

}  // namespace

void set_factor(EntryScore& entry) {
  const double own = entry.rcp ? entry.rcp->factor : 1.0;
  entry.scaling_factor = entry.file_factor.value_or(own);
  if (!entry.file_factor || std::abs(*entry.file_factor - own) <= kSameFactor * own) return;
  entry.warnings.push_back(fmt::format(
      "scaling.json has the factor {:.9g}, but these runs give {:.9g} ({:.6g} "
          "instead of {:.6g} minutes): the file is stale, or the review committee "
          "set another factor; the score uses the file's, as the published table does",
      *entry.file_factor, own, entry.olympic_mean_minutes * own,
      entry.olympic_mean_minutes * *entry.file_factor));
}

double read_scaling_factor(const std::filesystem::path& path) {
  const Json json = read_json(path);
  const double factor = number_field(json, "scaling_factor");
  if (!(factor > 0.0 && std::isfinite(factor)))
    throw Error(ErrorKind::input,
                fmt::format("{}: 'scaling_factor' is {}", path.string(),
                            excerpt(field(json, "scaling_factor"))),
                "set it to a positive number");
  return factor;
}

}  // namespace bench::mlperf
