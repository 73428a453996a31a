// Slurm's host expressions: "login,node[001-003,007],rack[1-2]-node[01-16]" to names and back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// All hosts of a file together, and therefore the names of one expression.
inline constexpr std::size_t kMaxHosts = 100'000;
inline constexpr std::size_t kMaxHostName = 255;
/// Characters of an entry's name in a hosts file (schemas/hosts.json), which a pattern is held
/// against.
inline constexpr std::size_t kMaxHostExpression = 4096;
inline constexpr std::size_t kMaxHostDigits = 18;  // of one number: always fits 64 bits

/// The names, in the order of the expression, numbers padded as the low end of their range is
/// written ([08-11] is 08 09 10 11). Several brackets multiply, the leftmost turning slowest. A
/// name twice is given twice. Throws Error(input) naming the position (from 1), also for more than
/// `at_most` names, before they are made.
/// Names begin with a letter or digit and hold letters, digits, '_', '.' and '-' alone: they become
/// words of command lines, and must neither read as options nor mean anything to a shell.
std::vector<std::string> expand_hostlist(std::string_view expression,
                                         std::size_t at_most = kMaxHosts);

/// A short expression for a set of names. Names that differ in the number at their end share a
/// bracket, at the place of the first of them, sorted by number as Slurm does. Duplicates are
/// dropped.
std::string compact_hostlist(const std::vector<std::string>& names);

}  // namespace bench
