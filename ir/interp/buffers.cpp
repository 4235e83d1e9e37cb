// Where each buffer's elements are.
#include "ir/interp/buffers.h"

namespace aotc::interp {

using namespace loops;

Buffers::Buffers(const LoopProgram& program, std::vector<Tensor> inputs,
                 std::function<std::shared_ptr<Memory>(int)> storage, const Symbols& symbols)
    : program_(program),
      inputs_(std::move(inputs)),
      storage_(std::move(storage)),
      symbols_(symbols),
      made_(program.buffers.size()) {}

BufferMemory& Buffers::operator[](BufferId id) {
  AOTC_CHECK(id >= 0 && id < static_cast<int>(made_.size()), "buffer {} does not exist", id);
  auto& slot = made_[static_cast<size_t>(id)];
  if (slot) return *slot;
  const Buffer& b = program_.buffers[static_cast<size_t>(id)];
  slot = std::make_unique<BufferMemory>();
  slot->name = b.name;
  Tensor& t = slot->tensor;
  t.dtype = b.dtype;
  t.sizes = eval(b.sizes, symbols_);
  t.strides = eval(b.strides, symbols_);
  t.offset = eval(b.offset, symbols_);
  place(b, t);
  if (b.home == Home::Temp || b.home == Home::Output)
    slot->written = std::make_shared<std::vector<bool>>(
        static_cast<size_t>(t.memory->size() / element_size(b.dtype)), false);
  if (!fits(t))
    internal_error("buffer '{}' does not fit into its memory of {} bytes", b.name,
                   t.memory->size());
  return *slot;
}

void Buffers::place(const Buffer& b, Tensor& t) {
  switch (b.home) {
    case Home::Input: {
      AOTC_CHECK(b.index >= 0 && b.index < static_cast<int>(inputs_.size()) &&
                     inputs_[static_cast<size_t>(b.index)].memory,
                 "buffer '{}' is of input {}, which is no tensor", b.name, b.index);
      const Tensor& in = inputs_[static_cast<size_t>(b.index)];
      t.memory = in.memory;
      t.offset += in.offset;
      return;
    }
    case Home::Storage:
      t.memory = storage_(b.index);
      return;
    case Home::Temp:
    case Home::Output:
      break;
  }
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.sizes[d] < 0) user_error("buffer '{}' would have the size {}", b.name, t.sizes[d]);
    AOTC_CHECK(t.strides[d] >= 0, "buffer '{}' has a negative stride", b.name);
  }
  int64_t elements = span(t.sizes, t.strides);
  t.memory =
      std::make_shared<Memory>((elements + (elements ? t.offset : 0)) * element_size(b.dtype));
}

}  // namespace aotc::interp
