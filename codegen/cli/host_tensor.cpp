// Strided copies and the guarded storage.
#include "codegen/cli/host_tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "ir/error.h"

namespace aotc::cli {
namespace {

constexpr std::byte kPattern{0xa5};

// Calls f(byte offset) for each element in C order.
template <typename F>
void for_each_offset(int64_t item, const std::vector<int64_t>& sizes,
                     const std::vector<int64_t>& strides, F f) {
  const int64_t count = count_elements(sizes);
  std::vector<int64_t> at(sizes.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(offset * item);
    for (size_t d = sizes.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < sizes[d]) break;
      offset -= strides[d] * sizes[d];
      at[d] = 0;
    }
  }
}

bool is_contiguous(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

}  // namespace

void HostStorage::Free::operator()(std::byte* p) const { std::free(p); }

HostStorage::HostStorage(int64_t bytes)
    : size_(bytes), total_((bytes + 63) / 64 * 64 + 2 * kGuard) {
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<size_t>(total_))));
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), static_cast<int>(kPattern), static_cast<size_t>(total_));
}

std::byte* HostStorage::data() { return memory_.get() + kGuard; }
const std::byte* HostStorage::data() const { return memory_.get() + kGuard; }

std::string HostStorage::snapshot() const {
  return {reinterpret_cast<const char*>(memory_.get()), static_cast<size_t>(total_)};
}

DLTensor HostTensor::dl() const {
  DLTensor t{};
  t.data = storage->data();
  t.byte_offset = static_cast<uint64_t>(offset * element_size(dtype));
  t.device = {kDLCPU, 0};
  t.ndim = static_cast<int32_t>(sizes.size());
  t.dtype = dl_dtype(dtype);
  t.shape = const_cast<int64_t*>(sizes.data());
  t.strides = const_cast<int64_t*>(strides.data());
  return t;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  return strides;
}

int64_t view_span(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t span = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    span += (sizes[d] - 1) * std::abs(strides[d]);
  }
  return span;
}

HostTensor make_tensor(const Array& array) {
  HostTensor t;
  t.dtype = array.dtype;
  t.sizes = array.shape;
  t.strides = contiguous_strides(array.shape);
  t.storage = std::make_shared<HostStorage>(static_cast<int64_t>(array.data.size()));
  std::memcpy(t.storage->data(), array.data.data(), array.data.size());
  return t;
}

std::string gather(const std::byte* base, DType dtype, const std::vector<int64_t>& sizes,
                   const std::vector<int64_t>& strides) {
  const int64_t item = element_size(dtype);
  const size_t bytes = static_cast<size_t>(count_elements(sizes) * item);
  if (bytes == 0) return {};
  if (is_contiguous(sizes, strides)) return {reinterpret_cast<const char*>(base), bytes};
  std::string out(bytes, '\0');
  char* next = out.data();
  for_each_offset(item, sizes, strides, [&](int64_t offset) {
    std::memcpy(next, base + offset, static_cast<size_t>(item));
    next += item;
  });
  return out;
}

void scatter(std::byte* base, DType dtype, const std::vector<int64_t>& sizes,
             const std::vector<int64_t>& strides, std::string_view values) {
  const int64_t item = element_size(dtype);
  const char* next = values.data();
  for_each_offset(item, sizes, strides, [&](int64_t offset) {
    std::memcpy(base + offset, next, static_cast<size_t>(item));
    next += item;
  });
}

Array value_of(const HostTensor& t) {
  const std::byte* base = t.storage->data() + t.offset * element_size(t.dtype);
  return {t.dtype, t.sizes, gather(base, t.dtype, t.sizes, t.strides)};
}

Array value_of(const DLTensor& t) {
  const auto dtype = dtype_of(t.dtype);
  AOTC_CHECK(dtype, "a result of DLPack type {} with {} bits", t.dtype.code, t.dtype.bits);
  AOTC_CHECK(t.device.device_type == kDLCPU, "a result on DLPack device {}",
             static_cast<int>(t.device.device_type));
  Array array{*dtype, {t.shape, t.shape + t.ndim}, {}};
  const std::vector<int64_t> strides = t.strides
                                           ? std::vector<int64_t>(t.strides, t.strides + t.ndim)
                                           : contiguous_strides(array.shape);
  const std::byte* base = static_cast<const std::byte*>(t.data);
  array.data = gather(base ? base + t.byte_offset : nullptr, *dtype, array.shape, strides);
  return array;
}

void mark_view(const HostTensor& t, std::vector<bool>& mask) {
  const int64_t item = element_size(t.dtype);
  const int64_t first = HostStorage::kGuard + t.offset * item;
  for_each_offset(item, t.sizes, t.strides, [&](int64_t offset) {
    for (int64_t b = 0; b < item; ++b) mask[static_cast<size_t>(first + offset + b)] = true;
  });
}

DLDataType dl_dtype(DType t) {
  return {static_cast<uint8_t>(dlpack_code(t)), static_cast<uint8_t>(8 * element_size(t)), 1};
}

std::optional<DType> dtype_of(DLDataType t) {
#define X(enumerator, ...)                                  \
  if (const DLDataType d = dl_dtype(DType::enumerator);     \
      d.code == t.code && d.bits == t.bits && t.lanes == 1) \
    return DType::enumerator;
  AOTC_DTYPES(X)
#undef X
  return std::nullopt;
}

}  // namespace aotc::cli
