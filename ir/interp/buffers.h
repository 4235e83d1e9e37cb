// The memory of a loop program's buffers during one call.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/interp/bind.h"
#include "ir/interp/tensor.h"
#include "ir/loops.h"

namespace aotc::interp {

// A buffer as memory, with a mark per element that something has been written there (Temp and
// Output only).
struct BufferMemory {
  std::string name;
  Tensor tensor;
  std::shared_ptr<std::vector<bool>> written;  // by position; null: always readable
};

class Buffers {
 public:
  // `inputs` by graph input index, laid out as their buffers say; `storage` yields the archive's
  // memory.
  Buffers(const loops::LoopProgram& program, std::vector<Tensor> inputs,
          std::function<std::shared_ptr<Memory>(int)> storage, const Symbols& symbols);

  // Made at its first use: its sizes may mention symbols that kernels define.
  BufferMemory& operator[](loops::BufferId id);

 private:
  void place(const loops::Buffer& b, Tensor& t);
  const loops::LoopProgram& program_;
  std::vector<Tensor> inputs_;
  std::function<std::shared_ptr<Memory>(int)> storage_;
  const Symbols& symbols_;
  std::vector<std::unique_ptr<BufferMemory>> made_;
};

}  // namespace aotc::interp
