// Layout arithmetic and element access of interpreter tensors.
#include "ir/interp/tensor.h"

#include <algorithm>
#include <cstring>

#include "ir/error.h"

namespace aotc::interp {

std::shared_ptr<Memory> Memory::borrow(std::string_view bytes) {
  auto m = std::make_shared<Memory>(0);
  m->borrowed_ = bytes;
  return m;
}

std::byte* Memory::writable() {
  if (!borrowed_.empty()) {
    own_.resize(borrowed_.size());
    std::memcpy(own_.data(), borrowed_.data(), borrowed_.size());
    borrowed_ = {};
  }
  return own_.data();
}

int64_t Tensor::numel() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

int64_t Tensor::position(const std::vector<int64_t>& index) const {
  int64_t p = offset;
  for (size_t d = 0; d < index.size(); ++d) p += index[d] * strides[d];
  return p;
}

std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

int64_t span(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t end = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    end += (sizes[d] - 1) * std::max<int64_t>(strides[d], 0);
  }
  return end;
}

Tensor empty_strided(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  for (int64_t s : sizes)
    if (s < 0) user_error("a tensor would have the size {}", s);
  Tensor t;
  t.dtype = dtype;
  t.memory = std::make_shared<Memory>(span(sizes, strides) * element_size(dtype));
  t.sizes = std::move(sizes);
  t.strides = std::move(strides);
  return t;
}

Tensor empty(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = contiguous_strides(sizes);
  return empty_strided(dtype, std::move(sizes), std::move(strides));
}

bool fits(const Tensor& t) {
  if (t.numel() == 0) return true;
  int64_t low = t.offset, high = t.offset;
  for (size_t d = 0; d < t.sizes.size(); ++d)
    (t.strides[d] < 0 ? low : high) += (t.sizes[d] - 1) * t.strides[d];
  return low >= 0 && (high + 1) * element_size(t.dtype) <= t.memory->size();
}

void for_each_index(const std::vector<int64_t>& sizes,
                    const std::function<void(const std::vector<int64_t>&)>& f) {
  for (int64_t s : sizes)
    if (s <= 0) return;
  std::vector<int64_t> index(sizes.size(), 0);
  for (;;) {
    f(index);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<int64_t> positions(const Tensor& t) {
  std::vector<int64_t> all;
  all.reserve(static_cast<size_t>(t.numel()));
  for_each_index(t.sizes, [&](const std::vector<int64_t>& i) { all.push_back(t.position(i)); });
  return all;
}

bool same_strides(const std::vector<int64_t>& sizes, const std::vector<int64_t>& a,
                  const std::vector<int64_t>& b) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return true;
    if (sizes[d] > 1 && a[d] != b[d]) return false;
  }
  return true;
}

Tensor copy(const Tensor& t) {
  Tensor c = empty(t.dtype, t.sizes);
  assign(c, t);
  return c;
}

void assign(const Tensor& to, const Tensor& from) {
  AOTC_CHECK(to.sizes == from.sizes, "a tensor is assigned one of other sizes");
  std::vector<int64_t> source = positions(from), target = positions(to);
  auto size = static_cast<size_t>(element_size(to.dtype));
  std::vector<std::byte> values(source.size() * size);
  Tensor packed{to.dtype, {}, {}, 0, nullptr};
  if (to.dtype == from.dtype) {
    for (size_t i = 0; i < source.size(); ++i)
      std::memcpy(&values[i * size], from.memory->data() + static_cast<size_t>(source[i]) * size,
                  size);
  } else {
    packed.memory = std::make_shared<Memory>(std::move(values));
    for (size_t i = 0; i < source.size(); ++i)
      write(packed, static_cast<int64_t>(i), cast(read(from, source[i]), to.dtype));
    values.assign(packed.memory->data(), packed.memory->data() + packed.memory->size());
  }
  if (target.empty()) return;
  std::byte* out = to.memory->writable();
  for (size_t i = 0; i < target.size(); ++i)
    std::memcpy(out + static_cast<size_t>(target[i]) * size, &values[i * size], size);
}

bool may_overlap(const Tensor& a, const Tensor& b) {
  if (a.memory != b.memory || a.numel() == 0 || b.numel() == 0) return false;
  auto range = [](const Tensor& t) {
    int64_t low = t.offset, high = t.offset;
    for (size_t d = 0; d < t.sizes.size(); ++d)
      (t.strides[d] < 0 ? low : high) += (t.sizes[d] - 1) * t.strides[d];
    int64_t size = element_size(t.dtype);
    return std::pair(low * size, (high + 1) * size);
  };
  auto [a_low, a_high] = range(a);
  auto [b_low, b_high] = range(b);
  return a_low < b_high && b_low < a_high;
}

}  // namespace aotc::interp
