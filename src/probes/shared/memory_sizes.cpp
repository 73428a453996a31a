#include "probes/shared/memory_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/text.h"

namespace bench {
namespace {

constexpr double kFarPast = 4.0;  // times the last cache, as STREAM's rules ask
constexpr double kLeastHeadline = 256.0 * 1048576;
constexpr double kLeastCurve = 4096.0;
constexpr double kMinHugeShare = 0.9;  // below it a series on huge pages would not be one

/// The caches as `threads` threads on as many cores see them: all instances they have together.
double cache_capacity(const CacheLevel& cache, int threads) {
  return cache.bytes * std::ceil(static_cast<double>(threads) / std::max(1, cache.shared_by));
}

/// 0 where no cache is known.
double last_cache_bytes(const std::vector<CacheLevel>& caches, int threads) {
  return caches.empty() ? 0.0 : cache_capacity(caches.back(), threads);
}

}  // namespace

std::string memory_level(const std::vector<CacheLevel>& caches, double bytes, int threads) {
  if (caches.empty()) return "unknown";
  for (const CacheLevel& cache : caches)
    if (bytes <= cache_capacity(cache, threads)) return fmt::format("L{}", cache.level);
  if (bytes >= kFarPast * last_cache_bytes(caches, threads)) return "memory";
  return fmt::format("L{}/memory", caches.back().level);
}

double memory_budget(State& state, const MemorySystem& memory) {
  const auto asked = static_cast<double>(state.integer("max_bytes"));
  const double half = memory.available_bytes() / 2;
  return least(state.group(), (asked > 0 ? asked : half) / state.group().size());
}

std::string MemorySizes::shortage() const {
  return "four times the last-level cache (" + format(Bytes{last_cache}) + ") is " +
         format(Bytes{wanted}) + " and this job may allocate " + format(Bytes{budget}) +
         ": results include cache hits";
}

std::string MemorySizes::over_budget(double bytes) const {
  if (bytes <= budget) return "";
  return format(Bytes{bytes}) + " requested, but this job may allocate " + format(Bytes{budget}) +
         " (max_bytes, or half of what is available)";
}

MemorySizes plan_memory_sizes(const State& state, const std::vector<CacheLevel>& caches, int cores,
                              double budget) {
  MemorySizes sizes;
  sizes.budget = std::floor(budget);
  sizes.last_cache = last_cache_bytes(caches, cores);
  sizes.wanted = std::max(kLeastHeadline, kFarPast * sizes.last_cache);
  sizes.headline = std::min(sizes.wanted, sizes.budget);
  for (const std::int64_t bytes : state.list<std::int64_t>("sizes"))
    sizes.all.push_back(bytes == 0 ? sizes.headline : static_cast<double>(bytes));
  if (state.flag("curve"))
    for (double bytes = kLeastCurve; bytes < sizes.headline; bytes *= 2) sizes.all.push_back(bytes);
  std::ranges::sort(sizes.all, std::greater{});
  const auto doubled = std::ranges::unique(sizes.all);
  sizes.all.erase(doubled.begin(), doubled.end());
  return sizes;
}

Json memory_facts(const MemorySystem& memory, const MemorySizes& sizes) {
  Json caches = Json::array();
  for (const CacheLevel& cache : memory.caches())
    caches.push_back(
        {{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  Json facts = {{"caches", caches},
                {"instructions", memory.instructions()},
                {"available_bytes", memory.available_bytes()},
                {"headline_bytes", sizes.headline},
                {"last_cache_bytes", sizes.last_cache}};
  if (sizes.last_cache > 0) facts["headline_over_last_cache"] = sizes.headline / sizes.last_cache;
  return facts;
}

void add_place(Json& params, const MemoryPlace& place) {
  if (place.cpu_node) params["cpu_node"] = *place.cpu_node;
  if (place.memory_node) params["memory_node"] = *place.memory_node;
}

std::string too_few_huge_pages(double share) {
  if (share >= kMinHugeShare) return "";
  return "only " + format(share, Unit::ratio) +
         " of the memory is in huge pages, required: " + format(kMinHugeShare, Unit::ratio) +
         "; memory may be fragmented";
}

MemorySweep::MemorySweep(State& state, MemorySystem& memory, const char* metric, int cores)
    : state_(state),
      memory_(memory),
      metric_(metric),
      caches_(memory.caches()),
      sizes_(plan_memory_sizes(state, caches_, cores, memory_budget(state, memory))) {}

void MemorySweep::run() {
  state_.facts("memory", memory_facts(memory_, sizes_));
  if (sizes_.short_of_memory()) skip({{"level", "memory"}}, sizes_.shortage());
  for (const std::string& word : state_.list<std::string>("pages")) {
    const Pages pages = kPages.value(word, "kind of page");
    const std::string none = pages == Pages::huge ? memory_.no_huge_pages() : "";
    if (!none.empty())
      skip({{"pages", word}}, none);
    else if (state_.text("numa") == "pairs")
      measure_pairs(pages);
    else
      measure_near(pages);
  }
}

void MemorySweep::measure_pairs(Pages pages) {
  const std::vector<MemoryNode> nodes = memory_.nodes();
  if (nodes.size() < 2)
    return skip({{"numa", "pairs"}, {"pages", kPages.name(pages)}},
                "this machine has only one NUMA node");
  for (const MemoryNode& cpus : nodes)
    for (const MemoryNode& memory : nodes)
      if (!cpus.cores.empty() && memory.has_memory)
        measure_pair(pages, {cpus.id, memory.id}, static_cast<int>(cpus.cores.size()));
}

}  // namespace bench
