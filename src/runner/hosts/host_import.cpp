#include "runner/hosts/host_import.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "runner/hosts/import_entries.h"

namespace bench {
namespace {

// Keywords from orte/util/hostfile/hostfile_lex.l that are still in use.
constexpr std::array<std::string_view, 4> kSlots = {"slots", "slot", "count", "cpu"};
constexpr std::array<std::string_view, 6> kMaxSlots = {"max_slots", "max-slots", "max_slot",
                                                       "slots_max", "slots-max", "count-max"};

bool is_one_of(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

struct Entry {
  ImportedHost host;
  bool stated = false;   // slots: by slots=, by max_slots=, or by a second mention
  bool counted = false;  // by slots=, or a second mention: another slots= is refused
};

class Hostfile {
 public:
  Hostfile(const std::string& origin, int slots) : origin_(origin), slots_(slots) {}

  void read(TextLine line) {
    line.text = line.text.substr(0, line.text.find('#'));
    const auto words = words_of(with_spaced_signs(line.text));
    if (words.empty()) return;
    Entry& entry = mention(words.front(), line);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string_view key = words[i];
      if (i + 1 < words.size() && words[i + 1] == "=") ++i;
      const std::string_view value = ++i < words.size() ? words[i] : "";
      set(entry, key, value, line);
    }
    if (entry.stated && entry.host.slots < 1)
      refuse_line(origin_, line, "'" + entry.host.name + "' has no slots", "remove the host");
  }

  std::vector<ImportedHost> hosts(std::vector<std::string>& notes) {
    std::vector<ImportedHost> result;
    std::vector<std::string> assumed;
    for (Entry& entry : entries_) {
      if (!entry.stated) {
        entry.host.slots = slots_;
        assumed.push_back(entry.host.name);
      }
      result.push_back(std::move(entry.host));
    }
    if (!assumed.empty())
      notes.push_back("no slots given, assuming " + std::to_string(slots_) + ": " +
                      compact_hostlist(assumed));
    return result;
  }

 private:
  std::string_view with_spaced_signs(std::string_view text) {
    spaced_.clear();
    for (const char c : text) c == '=' ? spaced_ += " = " : spaced_ += c;
    return spaced_;
  }

  Entry& mention(std::string_view address, const TextLine& line) {
    const std::string_view name = address.substr(address.find('@') + 1);  // npos + 1 is 0
    check_host_name(name, origin_, line);
    const auto [place, is_new] = places_.try_emplace(std::string(name), entries_.size());
    if (is_new) {
      entries_.push_back({{std::string(name), std::string(address)}, false, false});
      return entries_.back();
    }
    Entry& entry = entries_[place->second];
    if (entry.host.address != address)
      refuse_line(origin_, line,
                  "'" + printable(address) + "' conflicts with earlier address '" +
                      printable(entry.host.address) + "'",
                  "use one address per host");
    ++entry.host.slots;
    entry.stated = entry.counted = true;
    return entry;
  }

  void set(Entry& entry, std::string_view key, std::string_view value, const TextLine& line) {
    const bool is_max = is_one_of(kMaxSlots, key);
    if (!is_max && !is_one_of(kSlots, key))
      refuse_line(origin_, line,
                  "'" + printable(key) + "' is not a hostfile keyword." +
                      did_you_mean(key, std::vector<std::string>{"slots", "max_slots"}),
                  "expected lines such as: node01 slots=4 max_slots=8  # comment");
    const auto number = read_slots(value);
    if (!number)
      refuse_line(origin_, line,
                  std::string(key) + "=" + printable(value) + " is not a number from 0 to 100000",
                  "for example slots=4");
    is_max ? set_most(entry, *number, line) : set_slots(entry, *number, line);
  }

  void set_slots(Entry& entry, int slots, const TextLine& line) {
    if (entry.counted)
      refuse_line(origin_, line, "slots of '" + entry.host.name + "' are given twice",
                  "give them once; mpirun rejects this too");
    entry.host.slots = slots;
    entry.stated = entry.counted = true;
  }

  void set_most(Entry& entry, int most, const TextLine& line) {
    if (entry.stated && most < entry.host.slots)
      refuse_line(origin_, line,
                  "max_slots=" + std::to_string(most) + " is below " +
                      std::to_string(entry.host.slots) + " slots",
                  "raise max_slots; mpirun rejects this too");
    if (!entry.stated) entry.host.slots = most;
    entry.stated = true;
  }

  const std::string& origin_;
  int slots_;
  std::string spaced_;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

ImportedHosts import_hostfile(std::string_view text, const std::string& origin, int slots) {
  Hostfile file(origin, slots);
  for (const TextLine& line : lines_of(text)) file.read(line);
  ImportedHosts imported;
  const auto hosts = file.hosts(imported.notes);
  if (hosts.empty())
    throw Error(ErrorKind::input, origin + ": no hosts found",
                "expected lines such as: node01 slots=4");
  imported.hosts = hosts_file_of(hosts, origin);
  return imported;
}

}  // namespace bench
