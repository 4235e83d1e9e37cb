// Views: index maps of view nodes applied to memory.
#pragma once
#include <optional>

#include "ir/interp/concrete.h"
#include "ir/interp/tensor.h"

namespace aotc::interp {

// Result k of the view node as a tensor on base's memory; nullopt if its index map is no walk with
// one stride per dimension there.
std::optional<Tensor> alias_view(const Node& n, int k, const Tensor& base, const Symbols& symbols);
// The elements that the view sees, copied.
Tensor gather_view(const Node& n, int k, const Tensor& base, const Symbols& symbols);
// What eager torch would do: alias where the op always does, or where it may and the layout allows;
// else, and where the schema declares no alias, copy.
Tensor eager_view(const Node& n, int k, const Tensor& base, const Symbols& symbols);
// Different elements share memory for certain: some dimension has stride 0.
bool overlaps_itself(const Tensor& t);

}  // namespace aotc::interp
