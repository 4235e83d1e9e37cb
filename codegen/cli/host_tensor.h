// Tensors in host memory as the C ABI takes them: strided views of storages whose other bytes are
// watched.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "aotc/aotc.h"
#include "codegen/cli/array_file.h"

namespace aotc::cli {

// Bytes at a 64-byte aligned address with guard bytes on both sides, filled with a pattern.
class HostStorage {
 public:
  explicit HostStorage(int64_t bytes);
  std::byte* data();
  const std::byte* data() const;
  int64_t size() const { return size_; }
  // Everything, guards included, as it is now.
  std::string snapshot() const;
  // Bytes in a guard before data() in a snapshot.
  static constexpr int64_t kGuard = 64;

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  int64_t size_, total_;
  std::unique_ptr<std::byte, Free> memory_;
};

struct HostTensor {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;  // elements
  int64_t offset = 0;                   // elements from the start of the storage
  std::shared_ptr<HostStorage> storage;

  // Valid while this tensor is neither changed nor destroyed.
  DLTensor dl() const;
};

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes);
// Elements from the lowest to one past the highest that a view touches; 0 when it is empty.
int64_t view_span(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);

// A contiguous tensor with this content in a storage of its own.
HostTensor make_tensor(const Array& array);
// Copies between C order and the strides of a view. `base` is the view's first element.
std::string gather(const std::byte* base, DType dtype, const std::vector<int64_t>& sizes,
                   const std::vector<int64_t>& strides);
void scatter(std::byte* base, DType dtype, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& strides, std::string_view values);
Array value_of(const HostTensor& tensor);
// Copies a host tensor of the C ABI. InternalError for an element type that aotc does not know.
Array value_of(const DLTensor& tensor);
// Sets mask[byte] for each byte of the storage's snapshot that the view covers.
void mark_view(const HostTensor& tensor, std::vector<bool>& mask);

DLDataType dl_dtype(DType t);
std::optional<DType> dtype_of(DLDataType t);

}  // namespace aotc::cli
