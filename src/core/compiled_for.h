// Compiles functions for an additional instruction set:
//   BENCH_COMPILED_FOR("avx512f", "prefer-vector-width=512") ... BENCH_COMPILED_FOR_END
// Include shared headers with inline functions before it, or the linker may use their extended
// versions in other files. Only g++ supports preferences.
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
