// Click logs as NumPy arrays: the .npz that DLRM makes of Criteo's logs (X_int [n, 13], X_cat [n,
// 26], y [n], counts [26]), or separate arrays, as MLPerf's scripts write them (dense, sparse,
// labels). Sparse ones are one .npy [n, tables], or the multi-hot .npz of DLRM-DCNv2: arrays "0",
// "1", ... by table, each [n, lookups of that table].
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/sources/click_source.h"
#include "training/sources/mapped_file.h"
#include "training/sources/npz.h"

namespace bench::training {

/// Either `npz` or the three others.
struct ClickArrayPaths {
  std::string npz = {};
  std::string dense = {}, ids = {}, labels = {};  // .npy; ids also .npz
};

/// The arrays of one split, and their files.
class ClickArrays {
 public:
  /// Throws Error(input) for damaged files, mismatched shapes, and IDs or counts that are not
  /// integers.
  explicit ClickArrays(const ClickArrayPaths& paths);

  std::uint64_t size() const { return labels_.elements(); }
  std::size_t features() const { return dense_.shape[1]; }
  std::size_t tables() const { return lookups_.size(); }
  /// Number of IDs of a sample, by table.
  const std::vector<int>& lookups() const { return lookups_; }
  /// Rows of each table, if the .npz states them.
  std::vector<std::int64_t> counts() const;
  /// Dense integers are counts: the sample gets log(1 + x), 0 for negative ones; floats stay as
  /// they are. Throws Error(input) for an ID outside its table or a label other than 0 and 1.
  void read(std::uint64_t index, ClickSample& sample, const ClickShape& shape) const;

 private:
  void open_npz(const std::string& path);
  void open_ids(const std::string& path);
  NpzFile& open_archive(const std::string& path);
  void count_lookups();
  void check_ids(const NpyArray& ids) const;
  std::int64_t id_of(std::uint64_t index, std::size_t table, int lookup) const;

  std::string name_;
  std::vector<MappedFile> files_;
  std::unique_ptr<NpzFile> npz_;
  NpyArray dense_, labels_;
  std::vector<NpyArray> ids_ = {};  // one of all tables, or one per table
  bool multi_hot_ = false;
  std::vector<int> lookups_ = {};
  std::optional<NpyArray> counts_ = {};
};

class ClickArrayFiles : public ClickFiles<ClickArrays> {
 public:
  /// `rows` of each table; none: those stated in the training .npz. Throws Error(usage) if they are
  /// not known, Error(input) as ClickArrays does.
  ClickArrayFiles(const ClickArrayPaths& train, const std::optional<ClickArrayPaths>& evaluation,
                  std::vector<std::int64_t> rows);
};

}  // namespace bench::training
