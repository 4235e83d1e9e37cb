// What the run time asks of a DLPack tensor: its names for messages, its extent in memory, whether
// elements share memory, and copies between any two layouts. Strides and sizes come from callers:
// nothing here trusts them to fit in memory.
#pragma once
#include "aotc/aotc.h"
#include "base.h"

namespace aotc::model {

// Buffers for message parts; texts that do not fit are cut.
struct Text64 {
  char text[64];
};
struct Text256 {
  char text[256];
};
Text64 dtype_name(DLDataType dtype);                      // as in torch: "float32"
Text64 device_name(DLDevice device);                      // "cpu", "cuda:0"
Text256 list_text(const int64_t* values, int32_t count);  // "[2, 3]"

inline bool same_dtype(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
// Memory that the CPU reads and writes directly.
inline bool is_host(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost ||
         device.device_type == kDLROCMHost;
}
inline int64_t element_bytes(DLDataType dtype) {
  return (int64_t{dtype.bits} * dtype.lanes + 7) / 8;
}
// The alignment that kernels rely on: the element's, at most that of a double (complex128 is two of
// them).
inline int64_t element_alignment(int64_t bytes) { return bytes < 8 ? bytes : 8; }

// Elements at data + item * sum(i_d * strides[d]). `strides` is never NULL; sizes are not negative.
struct View {
  char* data;
  int64_t item;  // bytes
  int32_t ndim;
  const int64_t* sizes;
  const int64_t* strides;
};

// Number of elements; -1 when a size is negative or the product does not fit.
int64_t count_elements(const int64_t* sizes, int32_t ndim);

// Row-major strides of `sizes`.
void contiguous_strides(const int64_t* sizes, int32_t ndim, int64_t* strides);

// Whether `strides` (NULL: contiguous) address the same layout as `want`; dimensions of size 1 do
// not count. For tensors without elements every layout is the same: do not ask.
bool strides_match(const int64_t* sizes, int32_t ndim, const int64_t* strides, const int64_t* want);

// The tensor's elements; `strides` has room for ndim entries and is filled when tensor.strides is
// NULL.
View view_of(const DLTensor& tensor, int64_t* strides);

// Bytes [lo, hi) that the elements reach; false when that leaves the address space. Empty views
// give lo = hi.
bool byte_range(const View& view, uintptr_t* lo, uintptr_t* hi);

// Whether two elements of the view share a byte.
bool overlaps_itself(const View& view);

// Whether an element of `a` shares a byte with an element of `b`. Exact; where memory for the exact
// test is lacking the answer is true.
bool views_overlap(const View& a, const View& b);

// Copies elements; same sizes and item, any strides, any alignment. The views must not share
// memory.
void copy_elements(const View& to, const View& from);

}  // namespace aotc::model
