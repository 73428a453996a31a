// core/page_cache for the files of a data set, and for parts of mapped files. Without eviction a
// "storage" figure measures memory.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "core/page_cache.h"

namespace bench::data {

/// Of all files, or of at most `most_files` spread over them. Throws Error(environment).
Residence residence(const std::vector<std::filesystem::path>& files, std::size_t most_files = 4096);

void evict(const std::vector<std::filesystem::path>& files);

/// Of a mapped file: the kernel may begin to read these bytes, all of them at once. Without it a
/// page that is looked at is read with its neighbours on both sides, wanted or not.
void will_need(std::span<const std::byte> mapped);

/// Of a mapped file: looks at a byte of each page, so that all of these bytes have been read when
/// it returns.
void touch_pages(std::span<const std::byte> mapped);

/// Of a mapped file: this process holds none of its pages until it looks at them again.
void release_pages(std::span<const std::byte> mapped);

}  // namespace bench::data
