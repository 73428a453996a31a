#include "results/run/chunk_table.h"

#include <algorithm>

namespace bench {

ChunkTable::ChunkTable(const std::map<std::string, const Chunk*>& chunks, const std::string& name) {
  const auto found = chunks.find(name);
  chunk_ = found == chunks.end() ? nullptr : found->second;
}

std::size_t ChunkTable::rows(const char* column) const {
  constexpr std::size_t kMost = 100'000;  // chunks may be of unknown origin
  return chunk_ == nullptr ? 0 : std::min(array_field(chunk_->columns, column).size(), kMost);
}

const Json& ChunkTable::cell(const char* column, std::size_t row) const {
  static const Json none;
  if (chunk_ == nullptr) return none;
  const Json& values = array_field(chunk_->columns, column);
  return row < values.size() ? values[row] : none;
}

double ChunkTable::number(const char* column, std::size_t row) const {
  const Json& value = cell(column, row);
  return value.is_number() ? value.get<double>() : kNoValue;
}

std::string ChunkTable::text(const char* column, std::size_t row) const {
  const Json& value = cell(column, row);
  return value.is_null() ? "" : text_of(value);
}

bool ChunkTable::flag(const char* column, std::size_t row) const {
  const Json& value = cell(column, row);
  return value.is_boolean() && value.get<bool>();
}

}  // namespace bench
