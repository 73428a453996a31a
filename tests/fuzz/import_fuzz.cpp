// Hostile output of other benchmarks: refused with an Error, or it gives jobs and series that a run
// can hold. BENCH_FUZZ_FORMAT names the format ("osu"); without it each input goes to all of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/record.h"
#include "results/import/importers.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

class CheckingSink final : public bench::ImportSink {
 public:
  void series(const bench::ImportedJob& job, const bench::Samples& samples) override {
    look_at(job);
    demand(!samples.values.empty(), "a series without a value");
    demand(std::ranges::all_of(samples.values, [](double v) { return std::isfinite(v); }),
           "a value that is no number: " + samples.metric);
    const bench::Json json = bench::to_json(bench::Record{"01.x", "host", 0, 0, samples});
    try {
      demand(bench::to_json(bench::record_from_json(json)) == json,
             "a series changes: " + bench::dump(json));
    } catch (const bench::Error& error) {
      demand(false, std::string("a run refuses it: ") + error.what());
    }
  }
  void ended(const bench::ImportedJob& job, bench::Status status, const std::string&) override {
    look_at(job);
    demand(status == bench::Status::failed || status == bench::Status::invalid, "no such end");
  }
  void facts(const bench::ImportedJob&, const bench::Facts& facts) override {
    demand(facts.facts.is_object() && !facts.topic.empty(), "facts that are none");
  }
  void note(const std::string& text) override { demand(!text.empty(), "an empty note"); }

 private:
  static void look_at(const bench::ImportedJob& job) {
    demand(!job.tool.empty() && !job.name.empty(), "a job without a name");
    demand(std::ranges::none_of(job.name, [](char c) { return c >= 0 && c < ' '; }),
           "a control character in a job's name");
    demand(job.ranks >= 0 && job.rank >= 0 && job.repeat >= 0, "counts below 0");
    if (job.hosts.size() > 100) return;
    for (const std::string& host : job.hosts)
      demand(bench::expand_hostlist(host, 1).front() == host, "no host's name: " + host);
  }
};

void attempt(const bench::ImportFormat& format, const std::string& text) try {
  std::istringstream in(text);
  CheckingSink sink;
  // Older outputs of nccl-tests do not name their collective.
  format.read(bench::ImportedFile{in, "fuzz", "all_reduce"}, sink);
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const only = std::getenv("BENCH_FUZZ_FORMAT");
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const bench::ImportFormat& format : bench::import_formats())
    if (only == nullptr || std::string(only) == format.name) attempt(format, text);
  return 0;
}
