#if BENCH_CURL
#include "probes/object_storage/curl_library.h"

#include <dlfcn.h>

namespace bench::object_storage {
namespace {

/// The oldest with times in microseconds (CURLINFO_STARTTRANSFER_TIME_T).
constexpr unsigned kOldest = 0x073d00;  // 7.61.0

}  // namespace

CurlLibrary::CurlLibrary(const std::string& path) : path_(path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    problem_ = std::string("cannot load libcurl: ") + (why == nullptr ? path : why) +
               "; install the package libcurl4 (dnf: libcurl)";
    return;
  }
  find(library, "curl_global_init", global_init);
  find(library, "curl_version_info", version_info);
  find(library, "curl_version", version_text);
  find(library, "curl_easy_init", init);
  find(library, "curl_easy_cleanup", cleanup);
  find(library, "curl_easy_reset", reset);
  find(library, "curl_easy_setopt", setopt);
  find(library, "curl_easy_perform", perform);
  find(library, "curl_easy_getinfo", getinfo);
  find(library, "curl_easy_strerror", strerror);
  find(library, "curl_slist_append", append);
  find(library, "curl_slist_free_all", free_all);
  if (!problem_.empty()) return;
  const curl_version_info_data* about = version_info(CURLVERSION_NOW);
  if (about->version_num < kOldest)
    problem_ = std::string("libcurl ") + about->version +
               " is older than 7.61; install a newer package libcurl4 (dnf: libcurl)";
  else if (const CURLcode code = global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    problem_ = path + ": curl_global_init: " + strerror(code);
}

template <class Function>
void CurlLibrary::find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr && problem_.empty())
    problem_ = path_ + " has no " + symbol + "; install the package libcurl4 (dnf: libcurl)";
}

const CurlLibrary& curl() {
  static const CurlLibrary library("libcurl.so.4");
  return library;
}

}  // namespace bench::object_storage
#endif
