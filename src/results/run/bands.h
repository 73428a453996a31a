// Bands of the field: what published trainings reach, or a standard asks for, of figures such as
// MFU, data stall and goodput, each with its source. Context for a reader and bounds for a gate
// that names one; a result outside a band is not wrong. Data: bands/*.json, schema:
// schemas/bands.json.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"
#include "core/order_statistics.h"
#include "core/units.h"

namespace bench {

/// What a band is made of.
enum class BandKind {
  reached,   // by published trainings that were tuned for it
  observed,  // in a fleet or a study, good or bad
  rule       // of a benchmark, or of the authors of a method
};
std::string_view to_string(BandKind kind);

struct Band {
  std::string id;
  std::vector<std::string> metrics;  // full names
  BandKind kind = BandKind::reached;
  double low = kNoValue, high = kNoValue;  // shares; NaN: open at this end
  std::string context;                     // model, accelerators, type
  std::string source;                      // title, place in it, address
  /// What a result must have for the band to be shown; empty: any.
  std::string device = {};
  std::vector<std::string> workloads = {};
  Json where = Json::object();  // parameters of the series
};

/// A result as bands see it.
struct BandSubject {
  std::string metric;  // full name
  std::string device;
  std::string workload = {};  // of a training; "" if unknown
  Json params = Json::object();
};

/// Where an interval lies relative to a band.
enum class BandPosition {
  within,    // wholly; meets an open band
  better,    // wholly beyond its better end
  worse,     // wholly beyond its worse end
  undecided  // spans an end
};
std::string_view to_string(BandPosition position);

/// Without an interval of its own a value is one of zero width. `better`: of the metric.
BandPosition position_in(const Band& band, Interval interval, Better better);

/// "38 to 43 %", "at most 5 %", "at least 90 %".
std::string range_text(const Band& band);

class BandCatalogue {
 public:
  explicit BandCatalogue(std::vector<Band> bands) : bands_(std::move(bands)) {}
  /// Throws Error(input) naming `origin` and the band: an invalid document, an identifier used
  /// twice, or ends in the wrong order.
  static BandCatalogue from_json(const Json& document, const std::string& origin);
  /// Of the folder bands/ next to the program, empty without it; read once.
  static const BandCatalogue& installed();

  const std::vector<Band>& all() const { return bands_; }
  const Band* find(const std::string& id) const;  // null if unknown
  std::vector<std::string> ids() const;
  std::vector<const Band*> of(const BandSubject& subject) const;

 private:
  std::vector<Band> bands_;
};

}  // namespace bench
