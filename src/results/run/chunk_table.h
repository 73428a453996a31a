// A table that a job wrote as columns (Chunk). Records may be old or corrupt: what is missing has
// no value.
#pragma once

#include <map>
#include <string>

#include "core/json_fields.h"
#include "core/record.h"

namespace bench {

class ChunkTable {
 public:
  /// A null chunk is an empty table. It must outlive this.
  explicit ChunkTable(const Chunk* chunk) : chunk_(chunk) {}
  /// Of the chunk of this name.
  ChunkTable(const std::map<std::string, const Chunk*>& chunks, const std::string& name);

  /// As many as this column has, but at most 100,000.
  std::size_t rows(const char* column) const;
  double number(const char* column, std::size_t row) const;  // or kNoValue
  std::string text(const char* column, std::size_t row) const;
  bool flag(const char* column, std::size_t row) const;

 private:
  const Json& cell(const char* column, std::size_t row) const;

  const Chunk* chunk_;
};

}  // namespace bench
