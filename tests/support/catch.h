// The one place that knows where Catch2 keeps its header: v2 on Debian 12, v3 on newer systems.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif
