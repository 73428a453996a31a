// A sink that keeps what an importer hands over, for tests to look at.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json.h"
#include "results/import/collected_series.h"
#include "results/import/importers.h"

namespace bench {

class CollectedImport final : public ImportSink {
 public:
  struct Entry {
    ImportedJob job;
    Samples samples;
  };
  struct End {
    ImportedJob job;
    Status status;
    std::string reason;
  };

  void series(const ImportedJob& job, const Samples& samples) override {
    entries.push_back({job, samples});
  }
  void ended(const ImportedJob& job, Status status, const std::string& reason) override {
    ends.push_back({job, status, reason});
  }
  void facts(const ImportedJob&, const Facts& one) override { facts_.push_back(one); }
  void note(const std::string& text) override { notes.push_back(text); }

  /// The entries of a metric whose parameters contain these.
  std::vector<Entry> of(const std::string& metric, const Json& params = Json::object()) const {
    std::vector<Entry> found;
    for (const Entry& entry : entries) {
      bool fits = entry.samples.metric == metric;
      for (const auto& [key, value] : params.items())
        fits = fits && entry.samples.params.contains(key) && entry.samples.params[key] == value;
      if (fits) found.push_back(entry);
    }
    return found;
  }
  /// The first value of the only such series; throws where there is none or another.
  double value(const std::string& metric, const Json& params = Json::object()) const {
    const auto found = of(metric, params);
    if (found.size() != 1)
      throw std::runtime_error(std::to_string(found.size()) + " series of " + metric + " " +
                               params.dump());
    return found.front().samples.values.at(0);
  }
  /// Everything that came, as text: to look for what must not come.
  std::string all() const {
    std::ostringstream text;
    for (const Entry& entry : entries)
      text << identity_of(entry.job, entry.samples) << entry.samples.reason << '\n';
    for (const End& end : ends) text << identity_of(end.job) << end.reason << '\n';
    for (const Facts& one : facts_) text << one.topic << one.facts << '\n';
    for (const std::string& note : notes) text << note << '\n';
    return text.str();
  }

  std::vector<Entry> entries;
  std::vector<End> ends;
  std::vector<Facts> facts_;
  std::vector<std::string> notes;
};

/// Imports a text by the name of its format.
inline void import_text(const std::string& format, const std::string& text, ImportSink& sink,
                        const std::string& operation = {}) {
  std::istringstream in(text);
  for (const ImportFormat& one : import_formats())
    if (format == one.name) return one.read(ImportedFile{in, "sample", operation}, sink);
  throw std::runtime_error("no format " + format);
}

inline std::string import_sample(const std::string& file) {
  return read_file("tests/data/importers/" + file);
}

inline CollectedImport imported(const std::string& format, const std::string& file,
                                const std::string& operation = {}) {
  CollectedImport sink;
  import_text(format, import_sample(file), sink, operation);
  return sink;
}

/// What it says about a text that it refuses; "" when it does not.
inline std::string refusal(const std::string& format, const std::string& text,
                           const std::string& operation = {}) try {
  CollectedImport sink;
  import_text(format, text, sink, operation);
  return {};
} catch (const Error& error) {
  return error.kind() == ErrorKind::input ? error.what() : "not an input error";
}

inline bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A text with one part replaced, which must be there.
inline std::string edited(std::string text, const std::string& part, const std::string& instead) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("not there: " + part);
  return text.replace(at, part.size(), instead);
}

}  // namespace bench
