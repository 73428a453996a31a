// What the text and the JSON of nvbandwidth have in common.
#pragma once

#include <string>
#include <string_view>

#include "results/importers/collected_series.h"
#include "results/importers/importers.h"

namespace bench {

/// A cell of a test's matrix: "bandwidth" of "... bandwidth (GB/s)", "latency" of "... (ns)".
/// Values of 0, which the diagonal has, are none. False where the description names no such unit.
bool add_nvbandwidth(const ImportedJob& job, const std::string& description, const std::string& row,
                     const std::string& column, double value, CollectedSeries& series);

ImportedJob nvbandwidth_job(const std::string& test, const std::string& host);

void import_nvbandwidth_json(const std::string& text, const ImportedFile& file, ImportSink& sink);

}  // namespace bench
