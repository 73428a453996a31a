// Slurm host expressions: "login,node[001-003,007],rack[1-2]-node[01-16]" to names and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Limit for all hosts of a file, and thus for one expression.
inline constexpr std::size_t kMaxHosts = 100'000;
inline constexpr std::size_t kMaxHostName = 255;
/// Length limit of an entry's name in a hosts file (schemas/hosts.json), which a regex is matched
/// against.
inline constexpr std::size_t kMaxHostExpression = 4096;
inline constexpr std::size_t kMaxHostDigits = 18;  // per number, so that it fits 64 bits

/// The names in order, with numbers padded like the low end of their range ([08-11] is 08 09 10
/// 11). Several brackets multiply, the leftmost varying slowest. Duplicates are kept. Throws
/// Error(input) with the position (from 1), also for more than `at_most` names, before creating
/// them. Names begin with a letter or digit and contain only letters, digits, '_', '.' and '-': in
/// command lines they must not read as options or be special to a shell.
std::vector<std::string> expand_hostlist(std::string_view expression,
                                         std::size_t at_most = kMaxHosts);

/// A short expression for a set of names. Names that differ only in their final number share a
/// bracket, at the position of the first, sorted by number as Slurm does. Duplicates are dropped.
std::string compact_hostlist(const std::vector<std::string>& names);

}  // namespace bench
