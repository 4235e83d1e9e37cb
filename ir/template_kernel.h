// What template kernels touch, for passes that need not know which template it is.
#pragma once
#include <vector>

#include "ir/loops.h"

namespace aotc::loops {

bool is_template(const Kernel& k);
std::vector<BufferId> template_reads(const Kernel& k);
std::vector<BufferId> template_writes(const Kernel& k);
// Sizes, strides and offsets.
std::vector<Sym> template_expressions(const Kernel& k);
// Whether the kernel has taken strides from the buffer, whose layout is then fixed.
bool fixes_layout(const Kernel& k, BufferId b);
void replace_template_buffer(Kernel& k, BufferId from, BufferId to);
// The sizes that its scratch memory depends on.
std::vector<Sym> scratch_sizes(const Kernel& k);

}  // namespace aotc::loops
