#include "ir/template_kernel.h"

#include <algorithm>
#include <array>

namespace aotc::loops {

namespace {

std::array<const MatmulOperand*, 4> operands_of(const Matmul& m) {
  return {&m.a, &m.b, &m.c, &m.d};
}

// Those of a kernel that asks for them.
std::vector<BufferId> existing(std::vector<BufferId> ids) {
  std::erase_if(ids, [](BufferId b) { return b < 0; });
  return ids;
}

}  // namespace

std::vector<int> Sort::result_dims() const {
  std::vector<int> dims;
  for (int d = 0; d < static_cast<int>(sizes.size()); ++d)
    if (d != within) dims.push_back(d);
  return dims;
}

bool is_template(const Kernel& k) { return k.kind == KernelKind::Template; }

std::vector<BufferId> template_reads(const Kernel& k) {
  if (k.matmul) return existing({k.matmul->a.buffer, k.matmul->b.buffer, k.matmul->d.buffer});
  if (k.sort) return existing({k.sort->x});
  return {};
}

std::vector<BufferId> template_writes(const Kernel& k) {
  if (k.matmul) return existing({k.matmul->c.buffer});
  if (k.sort) return existing({k.sort->values, k.sort->indices});
  return {};
}

std::vector<Sym> template_expressions(const Kernel& k) {
  std::vector<Sym> list = scratch_sizes(k);
  if (k.matmul)
    for (const MatmulOperand* o : operands_of(*k.matmul)) {
      list.insert(list.end(), o->batch.begin(), o->batch.end());
      list.insert(list.end(), {o->offset, o->row, o->col});
    }
  if (k.sort) {
    list.push_back(k.sort->offset);
    list.insert(list.end(), k.sort->strides.begin(), k.sort->strides.end());
  }
  return list;
}

bool fixes_layout(const Kernel& k, BufferId b) {
  if (k.sort) return k.sort->x == b;
  if (!k.matmul) return false;
  const auto all = operands_of(*k.matmul);
  return std::any_of(all.begin(), all.end(),
                     [&](const MatmulOperand* o) { return o->buffer == b; });
}

void replace_template_buffer(Kernel& k, BufferId from, BufferId to) {
  auto replace = [&](BufferId& b) {
    if (b == from) b = to;
  };
  if (k.matmul) {
    k.matmul = std::make_shared<Matmul>(*k.matmul);
    for (MatmulOperand* o : {&k.matmul->a, &k.matmul->b, &k.matmul->c, &k.matmul->d})
      replace(o->buffer);
  }
  if (k.sort) {
    k.sort = std::make_shared<Sort>(*k.sort);
    for (BufferId* b : {&k.sort->x, &k.sort->values, &k.sort->indices}) replace(*b);
  }
}

std::vector<Sym> scratch_sizes(const Kernel& k) {
  std::vector<Sym> list;
  if (k.matmul) {
    list = k.matmul->batch_sizes;
    list.insert(list.end(), {k.matmul->m, k.matmul->n, k.matmul->k});
  }
  if (k.sort) {
    list = k.sort->sizes;
    list.push_back(k.sort->count);
  }
  return list;
}

}  // namespace aotc::loops
