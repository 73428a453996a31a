#include "probes/preprocessing/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "training/sources/mapped_file.h"

namespace bench::preprocessing {
namespace {

constexpr std::size_t kPlainPart = 16384;

void add_plain(std::string_view text, std::uint64_t bytes, Corpus& corpus) {
  while (!text.empty() && corpus.text.size() < bytes) {
    std::size_t end = text.size();
    if (end > kPlainPart)
      if (const std::size_t line = text.find('\n', kPlainPart); line != std::string_view::npos)
        end = line + 1;
    corpus.add(text.substr(0, end));
    text.remove_prefix(end);
  }
}

void add_lines(std::string_view text, std::uint64_t bytes, const std::string& name,
               Corpus& corpus) {
  for (std::size_t number = 1; !text.empty() && corpus.text.size() < bytes; ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const Json value = parse_json(line, fmt::format("{}: line {}", name, number));
    const Json& document = field(value, "text");
    if (!document.is_string())
      throw Error(
          ErrorKind::input,
          fmt::format("{}: line {} has no text: {}", name, number, printable(excerpt(value))),
          "each line of a .jsonl file is an object with a string 'text'");
    if (const auto& words = document.get_ref<const std::string&>(); !words.empty())
      corpus.add(words);
  }
}

}  // namespace

std::vector<std::string_view> Corpus::documents() const {
  std::vector<std::string_view> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(document(i));
  return all;
}

void Corpus::add(std::string_view document) {
  text += document;
  begins.push_back(text.size());
}

Corpus read_corpus(const std::filesystem::path& path, std::uint64_t bytes) {
  const training::MappedFile file(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  const std::uint64_t most = bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes;
  Corpus corpus;
  if (path.extension() == ".jsonl")
    add_lines(text, most, printable(path.string()), corpus);
  else
    add_plain(text, most, corpus);
  if (corpus.size() == 0)
    throw Error(ErrorKind::input, printable(path.string()) + ": no text",
                "name a file of plain text, or a .jsonl file whose lines have a 'text'");
  return corpus;
}

void write_corpus(const std::filesystem::path& path, const Corpus& corpus) {
  std::string lines;
  for (std::size_t i = 0; i < corpus.size(); ++i)
    lines += dump(Json{{"text", std::string(corpus.document(i))}}) + "\n";
  write_file(path, lines);
}

}  // namespace bench::preprocessing
