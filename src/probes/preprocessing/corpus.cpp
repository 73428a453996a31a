#include "probes/preprocessing/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/json.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "core/whole_file.h"
#include "probes/preprocessing/new_file.h"
#include "tokenizer/utf8.h"

namespace bench::preprocessing {
namespace {

using tokenizer::cut_of_utf8;

constexpr std::size_t kPlainPart = 16384;
constexpr std::size_t kReadBytes = 1u << 20;  // at once

/// The bytes of a file in order, with as many of them in memory as are asked for.
class InputText {
 public:
  explicit InputText(const std::filesystem::path& path)
      : name_(path.string()), file_(open_input(path)) {}

  /// The bytes that were not taken yet: at least `bytes` of them, or all that are left.
  std::string_view ahead(std::size_t bytes) {
    while (!ended_ && buffer_.size() - at_ < bytes) read_more();
    return std::string_view(buffer_).substr(at_);
  }
  void take(std::size_t bytes) { at_ += bytes; }

 private:
  void read_more() {
    if (at_ > buffer_.size() / 2) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kReadBytes);
    const ssize_t got = read(file_.get(), buffer_.data() + before, kReadBytes);
    const int reason = errno;
    buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    errno = reason;
    if (got < 0 && errno != EINTR) throw_errno("read " + printable(name_));
    ended_ = got == 0;
  }

  std::string name_;
  Descriptor file_;
  std::string buffer_ = {};
  std::size_t at_ = 0;  // taken
  bool ended_ = false;
};

void add_plain(InputText& input, std::uint64_t bytes, Corpus& corpus) {
  while (corpus.text.size() < bytes) {
    const std::string_view text = input.ahead(kLongestPlain + 1).substr(0, kLongestPlain + 1);
    if (text.empty()) return;
    std::size_t end = text.size();
    if (const std::size_t line = text.find('\n', kPlainPart); line < kLongestPlain)
      end = line + 1;
    else if (end > kLongestPlain)
      end = cut_of_utf8(text, kLongestPlain);
    corpus.add(text.substr(0, end));
    input.take(end);
  }
}

void add_lines(InputText& input, std::uint64_t bytes, const std::string& name, Corpus& corpus) {
  for (std::size_t number = 1; corpus.text.size() < bytes; ++number) {
    std::string_view text;
    std::size_t end = std::string_view::npos;
    for (std::size_t asked = kReadBytes; end == std::string_view::npos; asked *= 2) {
      text = input.ahead(asked);
      end = text.find('\n');
      if (end == std::string_view::npos && text.size() < asked) end = text.size();
      if (std::min(end, text.size()) > kLongestLine)
        throw Error(
            ErrorKind::input,
            fmt::format("{}: line {} has more than {} MiB", name, number, kLongestLine >> 20),
            "cut long documents into several");
    }
    if (text.empty()) return;
    const std::string_view line = trim(text.substr(0, end));
    input.take(std::min(end + 1, text.size()));
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
  InputText input(path);
  const std::uint64_t most = bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes;
  Corpus corpus;
  std::error_code unknown;  // of a pipe
  if (const std::uintmax_t size = std::filesystem::file_size(path, unknown); !unknown)
    corpus.text.reserve(std::min<std::uint64_t>(size, most));
  if (path.extension() == ".jsonl")
    add_lines(input, most, printable(path.string()), corpus);
  else
    add_plain(input, most, corpus);
  if (corpus.size() == 0)
    throw Error(ErrorKind::input, printable(path.string()) + ": no text",
                "name a file of plain text, or a .jsonl file whose lines have a 'text'");
  return corpus;
}

void write_corpus(const std::filesystem::path& path, const Corpus& corpus) {
  NewFile file(path);
  for (std::size_t i = 0; i < corpus.size(); ++i)
    file.write(dump(Json{{"text", std::string(corpus.document(i))}}) + "\n");
  file.finish();
}

}  // namespace bench::preprocessing
