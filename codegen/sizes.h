// Sizes, strides, offsets and byte counts that depend on the call: each is an entry of
// AotcFrame.extents, filled by generated functions as soon as the symbols that it uses have values.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace aotc {

class Sizes {
 public:
  explicit Sizes(const Graph& g);

  // As an AotcExtent initializer: "{value, -1}" or "{0, entry}".
  std::string operator()(const Sym& s);
  int entry(const Sym& s);
  size_t count() const { return entries_.size(); }

  // The symbols of s that get their value during the call.
  std::vector<std::string> data_dependent(const Sym& s) const;
  bool depends_on_data(const Sym& s) const { return !data_dependent(s).empty(); }

  // A function template `name` that computes the entries that became computable: with no `known`,
  // those that depend on the inputs' sizes alone; else those that depend on the data-dependent
  // symbols `known`, if no function before computes them. "" if there is none.
  std::string function(const std::string& name, const std::vector<std::string>& known);
  // An internal error unless every entry is computed by some function.
  void check_complete() const;
  // The call of it: fills frame->extents, or returns 1 if a size is too large for any memory.
  std::string call(const std::string& name) const;

 private:
  struct Entry {
    Sym size;
    bool computed = false;
  };
  bool is_known(const Sym& s, const std::vector<std::string>& known) const;

  const Graph& graph_;
  Assumptions assumptions_;
  std::map<std::string, int> index_;
  std::vector<Entry> entries_;
};

// The position of a symbol in AotcFrame.symbols.
int symbol_index(const Graph& g, const std::string& name);

}  // namespace aotc
