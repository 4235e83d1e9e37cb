// Structured control flow in a list of nodes or kernels: markers around the items that run under a
// condition, or again and again. Everything else keeps its place in the list.
//
//   if C ... else ... end_if        the first part runs if C is not 0, else the second
//   while ... test C ... end_while  all of it, until C is 0 at the test
//   for I < N ... end_for           for each I from 0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace aotc {

enum class Control : uint8_t { None, If, Else, EndIf, While, Test, EndWhile, For, EndFor };

const char* name(Control c);
std::optional<Control> control_named(std::string_view name);

// The partner of each marker: if -> else, else -> end_if, while -> end_while, test -> end_while,
// end_while -> while, for <-> end_for. Throws InternalError where blocks do not nest.
class Blocks {
 public:
  explicit Blocks(const std::vector<Control>& items);
  size_t partner(size_t marker) const { return partner_.at(marker); }
  // How many blocks item i is inside of.
  int depth(size_t i) const { return depth_.at(i); }
  // The begin and the end of the outermost loop around item i; nullopt outside loops.
  struct Loop {
    size_t begin, end;
  };
  std::optional<Loop> outermost_loop(size_t i) const;

 private:
  std::vector<size_t> partner_;
  std::vector<int> depth_;
  std::vector<Loop> loops_;  // outermost ones, in order
};

// Walks the list as it runs. `item(i)` runs item i; `holds(i)` is the condition of an if or a test;
// `count(i)` the iterations of a for; `set(i, n)` its counter.
template <typename Item, typename Holds, typename Count, typename Set>
void run_blocks(const std::vector<Control>& items, const Item& item, const Holds& holds,
                const Count& count, const Set& set) {
  const Blocks blocks(items);
  std::vector<std::pair<int64_t, int64_t>> counters;  // of the for blocks around: now, end
  for (size_t i = 0; i < items.size();) {
    size_t next = i + 1;
    switch (items[i]) {
      case Control::None:
        item(i);
        break;
      case Control::If:
        if (!holds(i)) next = blocks.partner(i) + 1;
        break;
      case Control::Else:
        next = blocks.partner(i);
        break;
      case Control::Test:
        if (!holds(i)) next = blocks.partner(i) + 1;
        break;
      case Control::EndWhile:
        next = blocks.partner(i);
        break;
      case Control::For:
        counters.emplace_back(0, count(i));
        if (counters.back().second > 0) {
          set(i, 0);
        } else {
          counters.pop_back();
          next = blocks.partner(i) + 1;
        }
        break;
      case Control::EndFor:
        if (++counters.back().first < counters.back().second) {
          set(blocks.partner(i), counters.back().first);
          next = blocks.partner(i) + 1;
        } else {
          counters.pop_back();
        }
        break;
      case Control::EndIf:
      case Control::While:
        break;
    }
    i = next;
  }
}

}  // namespace aotc
