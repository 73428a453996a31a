#include "mlperf/storage/storage_tree.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace bench::mlperf::storage {

namespace fs = std::filesystem;

std::string_view to_string(Category category) {
  constexpr std::array kNames = {"training", "checkpointing", "kv_cache", "vector_database"};
  return kNames[static_cast<std::size_t>(category)];
}

namespace {

std::optional<Category> category_from(std::string_view name) {
  for (const Category one :
       {Category::training, Category::checkpointing, Category::kv_cache, Category::vector_database})
    if (name == to_string(one)) return one;
  return {};
}

}  // namespace

std::optional<std::int64_t> stamp_seconds(std::string_view name) {
  if (name.size() != 15 || name[8] != '_') return {};
  const auto number = [&](std::size_t at, std::size_t count) {
    const auto digits = name.substr(at, count);
    return std::ranges::all_of(digits, is_digit) ? parse_as<int>(std::string(digits))
                                                 : std::nullopt;
  };
  const auto year = number(0, 4), month = number(4, 2), day = number(6, 2);
  const auto hour = number(9, 2), minute = number(11, 2), second = number(13, 2);
  if (!year || !month || !day || !hour || !minute || !second) return {};
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return {};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * std::int64_t{86400} + *hour * 3600 + *minute * 60 + *second;
}

namespace {

constexpr int kDeepest = 16;

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::directory_entry& entry = *at;
    if (entry.path().filename().native().starts_with('.') || entry.is_symlink()) continue;
    if (entry.is_directory()) found.push_back(entry.path());
  }
  if (error)
    throw Error(ErrorKind::environment, "cannot read " + folder.native() + ": " + error.message());
  std::ranges::sort(found);
  return found;
}

std::string name_of(const fs::path& path) { return path.filename().native(); }

std::vector<Leaf> leaves_in(const fs::path& folder) {
  std::vector<Leaf> leaves;
  for (const fs::path& one : folders_in(folder))
    if (name_of(one) != "code")  // of an open workload in 2.0
      leaves.push_back({one, name_of(one), stamp_seconds(name_of(one))});
  return leaves;
}

/// Fills the phases of a workload's folder; checkpointing has none.
void read_phases(Workload& workload) {
  if (workload.category == Category::checkpointing) {
    workload.run = leaves_in(workload.folder);
    return;
  }
  for (const fs::path& phase : folders_in(workload.folder)) {
    const std::string name = name_of(phase);
    if (name == "datasize")
      workload.datasize = leaves_in(phase);
    else if (name == "datagen")
      workload.datagen = leaves_in(phase);
    else if (name == "run")
      workload.run = leaves_in(phase);
    else if (name != "code")
      workload.unknown.push_back(name);
  }
}

/// The names around a folder of results: of .../DIVISION/ORGANISATION/results/SYSTEM.
struct Owner {
  std::string division, organisation, system;
};

Owner owner_of(const fs::path& system_folder) {
  const fs::path results = system_folder.parent_path();
  Owner owner{.division = {}, .organisation = {}, .system = name_of(system_folder)};
  if (name_of(results) != "results") return owner;
  owner.organisation = name_of(results.parent_path());
  const std::string division = name_of(results.parent_path().parent_path());
  if (division == "closed" || division == "open") owner.division = division;
  return owner;
}

/// Captured source code, which has folders of the same names.
bool is_code(const std::string& name) {
  return name == "code" || name == "code-images" || name.starts_with("code-");
}

/// Whether a folder is results/SYSTEM/CATEGORY.
bool is_below_results(const fs::path& category) {
  return name_of(category.parent_path().parent_path()) == "results";
}

class Walk {
 public:
  /// `loose`: categories anywhere, as in mlpstorage's own folder of results.
  Walk(Tree& tree, bool loose) : tree_(tree), loose_(loose) {}

  void folder(const fs::path& path, int depth) {
    const std::string name = name_of(path);
    if (depth > kDeepest || (depth > 0 && is_code(name))) return;
    if (const auto category = category_from(name); category && (loose_ || is_below_results(path)))
      return models(path, *category);
    if (name == "systems") return systems(path);
    const bool of_results = name_of(path.parent_path()) == "results";
    for (const fs::path& one : folders_in(path)) {
      if (of_results && !category_from(name_of(one))) {
        tree_.unknown_categories.push_back(one);
        continue;
      }
      folder(one, depth + 1);
    }
  }

  /// A path inside of a category: its models, or one of them.
  bool inside(const fs::path& path) {
    fs::path below = path;
    for (fs::path at = path.parent_path(); at != at.root_path() && !at.empty();
         below = at, at = at.parent_path()) {
      const auto category = category_from(name_of(at));
      if (!category || (!loose_ && !is_below_results(at))) continue;
      if (*category == Category::vector_database)
        indices(below, at.parent_path());
      else
        workload(*category, below, at.parent_path(), name_of(below));
      return true;
    }
    return false;
  }

 private:
  void models(const fs::path& path, Category category) {
    for (const fs::path& model : folders_in(path))
      if (category == Category::vector_database)
        indices(model, path.parent_path());
      else
        workload(category, model, path.parent_path(), name_of(model));
  }
  void indices(const fs::path& engine, const fs::path& system) {
    for (const fs::path& index : folders_in(engine))
      workload(Category::vector_database, index, system, name_of(engine) + "/" + name_of(index));
  }
  void workload(Category category, const fs::path& path, const fs::path& system,
                const std::string& model) {
    const Owner owner = owner_of(system);
    Workload made{.category = category,
                  .division = owner.division,
                  .organisation = owner.organisation,
                  .system = owner.system,
                  .model = model,
                  .folder = path};
    read_phases(made);
    tree_.workloads.push_back(std::move(made));
  }
  void systems(const fs::path& path) {
    std::map<std::string, SystemFiles> found;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string extension = at->path().extension().native();
      if (extension != ".yaml" && extension != ".pdf") continue;
      SystemFiles& one = found[at->path().stem().native()];
      (extension == ".yaml" ? one.yaml : one.pdf) = true;
    }
    const std::string division = name_of(path.parent_path().parent_path());
    for (auto& [name, one] : found) {
      one.system = name;
      one.folder = path;
      one.organisation = name_of(path.parent_path());
      one.division = division == "closed" || division == "open" ? division : "";
      tree_.systems.push_back(one);
    }
  }

  Tree& tree_;
  const bool loose_;
};

/// No file says which round it is of. Round 2.0 was measured in 2025, 3.0 in 2026.
void guess_round(Tree& tree) {
  for (const Workload& workload : tree.workloads)
    for (const auto* phase : {&workload.run, &workload.datagen})
      for (const Leaf& leaf : *phase)
        if (leaf.time_s) {
          constexpr std::int64_t k2026 = 1767225600;
          tree.round = *leaf.time_s < k2026 ? 2 : 3;
          tree.round_reason = "measured in " + leaf.stamp.substr(0, 4);
          return;
        }
  tree.round_reason = "no folder has a date";
}

}  // namespace

Tree find_tree(const fs::path& path) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(path, error);
  if (error || !fs::is_directory(root))
    throw Error(ErrorKind::input, path.native() + " is no folder",
                "name the folder of a round, an organisation, a system or a workload");
  Tree tree{.root = root,
            .workloads = {},
            .systems = {},
            .unknown_categories = {},
            .round = 3,
            .round_reason = {}};
  for (const bool loose : {false, true}) {
    if (!tree.workloads.empty()) break;
    tree.systems.clear();
    tree.unknown_categories.clear();
    Walk walk(tree, loose);
    walk.folder(root, 0);
    if (tree.workloads.empty()) walk.inside(root);
  }
  if (tree.workloads.empty())
    throw Error(ErrorKind::input, "there is no workload of MLPerf Storage in " + path.native(),
                "expected are .../results/SYSTEM/{training,checkpointing,kv_cache,"
                "vector_database}/MODEL");
  std::ranges::sort(tree.workloads, {}, &Workload::folder);
  guess_round(tree);
  return tree;
}

}  // namespace bench::mlperf::storage
