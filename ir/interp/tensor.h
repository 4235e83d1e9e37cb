// Tensors of the interpreter: strided views of shared memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"

namespace aotc::interp {

// Bytes that several tensors may share. Borrowed bytes (a mapped archive) are copied at the first
// write.
class Memory {
 public:
  explicit Memory(int64_t bytes) : own_(static_cast<size_t>(bytes)) {}
  explicit Memory(std::vector<std::byte> bytes) : own_(std::move(bytes)) {}
  static std::shared_ptr<Memory> borrow(std::string_view bytes);

  int64_t size() const {
    return static_cast<int64_t>(borrowed_.empty() ? own_.size() : borrowed_.size());
  }
  const std::byte* data() const {
    return borrowed_.empty() ? own_.data() : reinterpret_cast<const std::byte*>(borrowed_.data());
  }
  std::byte* writable();

 private:
  std::vector<std::byte> own_;
  std::string_view borrowed_;
};

struct Tensor {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;  // elements
  int64_t offset = 0;                   // elements from the start of the memory
  std::shared_ptr<Memory> memory;

  int64_t numel() const;
  // Position, in elements from the start of the memory, of an index.
  int64_t position(const std::vector<int64_t>& index) const;
};

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes);
// A new contiguous tensor, or one with these strides in memory that it just fits; zero-filled.
Tensor empty(DType dtype, std::vector<int64_t> sizes);
Tensor empty_strided(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
// One past the last element of a view that starts at 0; 0 if it is empty.
int64_t span(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
// Every element lies within the memory.
bool fits(const Tensor& t);
// Calls f(index) for each index in row-major order.
void for_each_index(const std::vector<int64_t>& sizes,
                    const std::function<void(const std::vector<int64_t>&)>& f);
// The position of each element, row-major.
std::vector<int64_t> positions(const Tensor& t);
// Strides agree wherever a size is larger than 1.
bool same_strides(const std::vector<int64_t>& sizes, const std::vector<int64_t>& a,
                  const std::vector<int64_t>& b);

// One element, at a position in the memory.
ScalarValue read(const Tensor& t, int64_t position);
void write(const Tensor& t, int64_t position, const ScalarValue& v);
// A contiguous copy.
Tensor copy(const Tensor& t);
// Writes the elements of `from` (same sizes) over those of `to`, converted to its dtype. All are
// read first.
void assign(const Tensor& to, const Tensor& from);
// The memory of the two may have a byte in common.
bool may_overlap(const Tensor& a, const Tensor& b);

}  // namespace aotc::interp
