// What the rows' rules take to hold since only a call knows: gathered while one of these lives.
#pragma once
#include <vector>

#include "ir/sym.h"

namespace aotc {

class OpenConditions {
 public:
  OpenConditions();
  ~OpenConditions();
  OpenConditions(const OpenConditions&) = delete;
  OpenConditions& operator=(const OpenConditions&) = delete;
  const std::vector<Sym>& list() const { return list_; }
  // For rules: gathers `condition`, if anyone wants to know.
  static void add(const Sym& condition);

 private:
  OpenConditions* outer_;
  std::vector<Sym> list_;
};

}  // namespace aotc
