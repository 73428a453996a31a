// A file of one embedding table: 64 bytes of header, the rows' values, then one number of optimizer
// state a row; all f32, little-endian. Ranks write and read their own rows of it, so that a table
// may be split otherwise when it is read.
#pragma once

#include <filesystem>

#include "probes/training/tables/table_rows.h"

namespace bench::training {

/// "table_007.bin" in the directory.
std::filesystem::path table_path(const std::filesystem::path& directory, int table);

/// Writes these rows, and the header, of a table of `table_rows` rows, until they are on disk.
/// Throws Error(environment).
void write_rows(const std::filesystem::path& path, const TableRows& rows, std::int64_t table_rows);
/// Throws Error(input) where the file is not that of such a table, or not as long as its header
/// says; Error(environment) where it cannot be read.
void read_rows(const std::filesystem::path& path, TableRows& rows, std::int64_t table_rows);

}  // namespace bench::training
