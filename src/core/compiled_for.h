// Functions compiled for an instruction set that the rest is not compiled for:
//   BENCH_COMPILED_FOR("avx512f", "prefer-vector-width=512") ... BENCH_COMPILED_FOR_END
// What is inline and shared with other files must be included before, or the linker might give
// those files the copy that is compiled for the extension. Only g++ has preferences.
#pragma once

#define BENCH_PRAGMA(words) _Pragma(#words)

#if defined(__clang__)
#define BENCH_COMPILED_FOR(extensions, ...) \
  BENCH_PRAGMA(clang attribute push(__attribute__((target(extensions))), apply_to = function))
#define BENCH_COMPILED_FOR_END BENCH_PRAGMA(clang attribute pop)
#else
#define BENCH_COMPILED_FOR(...) BENCH_PRAGMA(GCC push_options) BENCH_PRAGMA(GCC target(__VA_ARGS__))
#define BENCH_COMPILED_FOR_END BENCH_PRAGMA(GCC pop_options)
#endif
