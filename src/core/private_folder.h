// Folders for temporary files that no other user can prepare, read or redirect: /tmp is
// everybody's, and what is created there may be a link that somebody put there first.
#pragma once

#include <filesystem>
#include <system_error>

namespace bench {

/// $TMPDIR if it is absolute, else /tmp.
std::filesystem::path temporary_base();

/// Creates the folder in an existing one if it is missing, accessible to this user only. Throws
/// Error(environment) if what is there is a link, no folder, another user's, accessible to others,
/// or in a folder whose entries others can replace.
void make_private_folder(const std::filesystem::path& path);

/// "benchctl-UID" in temporary_base(), made private: what it holds can be reused by later runs.
std::filesystem::path private_temporary_folder();

/// Creates the missing folders of a path for this user only, as the XDG Base Directory
/// Specification wants; existing ones stay as they are.
void make_user_folders(const std::filesystem::path& path, std::error_code& failure);
/// Creates a folder on storage under test, which may map users and permissions: refused only if it
/// is a link or another user's. Several ranks may create the same one.
void make_own_folder(const std::filesystem::path& path);

}  // namespace bench
