#include "results/import/kineto_trace.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/whole_file.h"

namespace bench {
namespace {

constexpr double kMicrosecond = 1e-6;
constexpr std::size_t kMostTraceBytes = std::size_t{4} << 30;

[[noreturn]] void refuse_gzip(const std::filesystem::path& path) {
  throw Error(ErrorKind::input, path.string() + ": its gzip stream is damaged or cut",
              "write the trace again, or decompress what can be read of it");
}

/// A file as it is, or decompressed.
std::string read_gzip(const std::filesystem::path& path) {
  const Descriptor input = open_input(path);
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzdopen(dup(input.get()), "rb"), gzclose);
  if (file == nullptr) throw Error(ErrorKind::environment, "cannot read " + path.string());
  std::string text, piece(std::size_t{1} << 20, '\0');
  int got = 0;
  while ((got = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()))) > 0 &&
         text.size() <= kMostTraceBytes)
    text.append(piece, 0, static_cast<std::size_t>(got));
  const bool whole = got >= 0 && gzclose(file.release()) == Z_OK;
  if (text.size() > kMostTraceBytes)
    throw Error(ErrorKind::input, path.string() + ": longer than 4 GiB without compression",
                "record fewer steps");
  if (!whole) refuse_gzip(path);
  return text;
}

/// Collects the events of a trace while it is parsed, so that the tree of JSON is never whole.
class KinetoReader {
 public:
  explicit KinetoReader(const std::string& file) : trace_{.file = file} {}

  /// For parse_json: keeps what is not an event.
  bool keep(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::key && depth == 1) in_events_ = parsed == "traceEvents";
    if (event != Event::object_end || depth != 2 || !in_events_) return true;
    add(parsed);
    return false;
  }

  DeviceTrace finish(const Json& top) {
    if (!top.is_object() || !top.contains("traceEvents"))
      throw Error(ErrorKind::input, trace_.file + ": has no traceEvents",
                  "give a trace that torch.profiler exported with export_chrome_trace()");
    const Json& info = object_field(top, "distributedInfo");
    if (const double rank = number_field(info, "rank"); rank >= 0.0 && rank < 1e9)
      trace_.rank = static_cast<int>(rank);
    shift_to_zero();
    std::ranges::stable_sort(trace_.steps, {}, &TraceStep::begin);
    return std::move(trace_);
  }

 private:
  void add(const Json& event) {
    const double begin = number_field(event, "ts"), length = number_field(event, "dur");
    constexpr double kMost = 1e18;  // beyond which sums would mean nothing
    if (text_field(event, "ph") != "X" || !(std::abs(begin) < kMost) ||
        !(length >= 0.0 && length < kMost))
      return;
    add(event, text_field(event, "cat"), begin, begin + length);
  }

  void add(const Json& event, const std::string& category, double begin, double end) {
    const std::string name = text_field(event, "name");
    const Json& args = object_field(event, "args");
    const std::int64_t correlation = integer_field(args, "correlation", -1);
    const std::int64_t thread = integer_field(event, "tid");
    if (category == "kernel") {
      add_work(event, args, kind_of_kernel(name), begin, end);
    } else if (category == "gpu_memcpy" || category == "gpu_memset") {
      add_work(event, args, DeviceWorkKind::memory, begin, end);
    } else if (category == "cuda_runtime" || category == "cuda_driver") {
      if (correlation >= 0) trace_.calls[correlation] = {begin, end};
    } else if (category == "cpu_op") {
      trace_.operations.push_back({names_.number_of(name, trace_), thread, begin, end});
    } else if (category == "user_annotation") {
      add_annotation(name, thread, begin, end);
    }
  }

  void add_work(const Json& event, const Json& args, DeviceWorkKind kind, double begin,
                double end) {
    const auto device = integer_field(args, "device", integer_field(event, "pid"));
    if (device < 0 || device > std::numeric_limits<int>::max()) return;
    trace_.work.push_back({names_.number_of(text_field(event, "name"), trace_), kind,
                           static_cast<int>(device),
                           integer_field(args, "stream", integer_field(event, "tid")),
                           integer_field(args, "correlation", -1), begin, end});
  }

  /// PyTorch marks "ProfilerStep#12" and "enumerate(DataLoader)#_SingleProcessDataLoaderIter...".
  void add_annotation(const std::string& name, std::int64_t thread, double begin, double end) {
    constexpr std::string_view kStep = "ProfilerStep#";
    if (name.starts_with(kStep)) {
      std::int64_t number = 0;
      std::from_chars(name.data() + kStep.size(), name.data() + name.size(), number);
      trace_.steps.push_back({number, begin, end});
    } else if (name.starts_with("enumerate(DataLoader)")) {
      trace_.loading.push_back({names_.number_of(name, trace_), thread, begin, end});
    }
  }

  template <class Spans>
  static double first_of(const Spans& spans, double first) {
    for (const auto& one : spans) first = std::min(first, one.begin);
    return first;
  }
  template <class Spans>
  static void shift(Spans& spans, double by) {
    for (auto& one : spans) {
      one.begin = (one.begin - by) * kMicrosecond;
      one.end = (one.end - by) * kMicrosecond;
    }
  }
  /// Until then times are microseconds since some epoch, of which a second has few digits left.
  void shift_to_zero() {
    double first = first_of(trace_.work, std::numeric_limits<double>::infinity());
    first = first_of(trace_.operations, first);
    first = first_of(trace_.steps, first);
    for (const auto& [correlation, call] : trace_.calls) first = std::min(first, call.begin);
    if (!std::isfinite(first)) return;
    shift(trace_.work, first);
    shift(trace_.operations, first);
    shift(trace_.loading, first);
    shift(trace_.steps, first);
    for (auto& [correlation, call] : trace_.calls) {
      call.begin = (call.begin - first) * kMicrosecond;
      call.end = (call.end - first) * kMicrosecond;
    }
  }

  DeviceTrace trace_;
  TraceNames names_ = {};
  bool in_events_ = false;
};

}  // namespace

DeviceTrace kineto_trace_from(std::string_view text, const std::string& file) {
  KinetoReader reader(file);
  const Json top = parse_json(text, file, [&](int depth, Json::parse_event_t event, Json& parsed) {
    return reader.keep(depth, event, parsed);
  });
  return reader.finish(top);
}

DeviceTrace read_kineto_trace(const std::filesystem::path& path) {
  return kineto_trace_from(read_gzip(path), path.filename().string());
}

}  // namespace bench
