// Looks into a results database from a test: all rows of all tables, and what an injected fault
// needs.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

/// Every row of every table as text, sorted: equal dumps are equal databases.
inline std::vector<std::string> logical_dump(const std::filesystem::path& path) {
  SQLite::Database db(path, SQLite::OPEN_READONLY, 10'000);
  std::vector<std::string> rows;
  SQLite::Statement tables(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (tables.executeStep()) {
    const std::string table = tables.getColumn(0).getString();
    SQLite::Statement query(db, "SELECT * FROM \"" + table + "\"");
    std::vector<std::string> of_table;
    while (query.executeStep()) {
      std::string row = table;
      for (int i = 0; i < query.getColumnCount(); ++i)
        row.append("|").append(query.isColumnNull(i) ? "NULL" : query.getColumn(i).getString());
      of_table.push_back(row);
    }
    std::sort(of_table.begin(), of_table.end());
    rows.insert(rows.end(), of_table.begin(), of_table.end());
  }
  return rows;
}

inline std::int64_t ask(const std::filesystem::path& path, const char* sql) {
  SQLite::Database db(path, SQLite::OPEN_READONLY, 10'000);
  return db.execAndGet(sql).getInt64();
}

inline std::string ask_text(const std::filesystem::path& path, const char* sql) {
  SQLite::Database db(path, SQLite::OPEN_READONLY, 10'000);
  return db.execAndGet(sql).getString();
}

}  // namespace bench
