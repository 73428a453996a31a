// core/page_cache for the files of a data set, and for parts of mapped files. Without eviction a
// "storage" figure measures memory.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/page_cache.h"

namespace bench::data {

/// Of all files, or of at most `most_files` evenly chosen ones. Throws Error(environment).
Residence residence(const std::vector<std::filesystem::path>& files, std::size_t most_files = 4096);

void evict(const std::vector<std::filesystem::path>& files);

/// Advises the kernel to read these bytes of a mapped file at once. Without the advice each page is
/// read on access, together with its neighbours on both sides.
void will_need(std::span<const std::byte> mapped);

/// Reads a byte of each page, so that these bytes of a mapped file are in memory on return.
void touch_pages(std::span<const std::byte> mapped);

/// Releases these pages of a mapped file until the next access.
void release_pages(std::span<const std::byte> mapped);

}  // namespace bench::data
