#include "mlperf/storage/yaml_file.h"

#include "core/error.h"

#ifdef BENCH_YAML
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#endif

namespace bench::mlperf::storage {

#ifdef BENCH_YAML
namespace {

constexpr std::uintmax_t kMostYamlBytes = 4u << 20;
constexpr int kMostValues = 100'000;
constexpr std::size_t kMostText = 16u << 20;  // aliases may repeat long texts

/// A plain scalar, by YAML's core schema.
Json scalar_of(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL")
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, whole);
      error == std::errc() && stop == end)
    return whole;
  double number = 0.0;
  if (const auto [stop, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && stop == end && std::isfinite(number))
    return number;
  return text;
}

class Conversion {
 public:
  Json of(const YAML::Node& node, int depth) {
    if (++values_ > kMostValues || depth > kMaxJsonDepth)
      throw Error(ErrorKind::input, "it has too many values, or is nested too deeply");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        count(node.Scalar());
        // A quoted scalar has the tag "!".
        return node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str"
                   ? Json(node.Scalar())
                   : scalar_of(node.Scalar());
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& one : node) list.push_back(of(one, depth + 1));
        return list;
      }
      case YAML::NodeType::Map: {
        Json map = Json::object();
        for (const auto& one : node) {
          const auto key = one.first.as<std::string>("");
          count(key);
          map[key] = of(one.second, depth + 1);
        }
        return map;
      }
      default:
        return nullptr;
    }
  }

 private:
  void count(const std::string& text) {
    text_ += text.size();
    if (text_ > kMostText) throw Error(ErrorKind::input, "it has too much text");
  }

  int values_ = 0;
  std::size_t text_ = 0;
};

}  // namespace

bool reads_yaml() { return true; }

JsonFile read_yaml_file(const std::filesystem::path& path) {
  JsonFile file{.path = path};
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || error) return file;
  try {
    if (std::filesystem::file_size(path) > kMostYamlBytes)
      throw Error(ErrorKind::input, "it has more than 4 MiB");
    const std::string text = read_file(path);
    if (is_pruned(text)) {
      file.state = FileState::pruned;
      return file;
    }
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() != 1)
      throw Error(ErrorKind::input,
                  "it has " + std::to_string(documents.size()) + " documents, where one belongs");
    file.value = Conversion().of(documents.front(), 0);
    file.state = FileState::read;
  } catch (const std::exception& wrong) {
    file.state = FileState::wrong;
    file.problem = wrong.what();
  }
  return file;
}
#else
bool reads_yaml() { return false; }

JsonFile read_yaml_file(const std::filesystem::path& path) { return {.path = path}; }
#endif

}  // namespace bench::mlperf::storage
