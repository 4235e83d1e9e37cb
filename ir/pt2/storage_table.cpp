// Bounds of stored tensors, in arithmetic that cannot overflow, and byte order.
#include "ir/pt2/storage_table.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "ir/error.h"

namespace aotc::pt2 {
namespace {

static_assert(std::endian::native == std::endian::little, "storages are kept little-endian");

constexpr int64_t kUnknownUnit = -1;

// Sizes as "[2, 3]".
std::string shape(const std::vector<int64_t>& sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

bool is_empty(const StoredTensor& t) {
  return std::find(t.sizes.begin(), t.sizes.end(), 0) != t.sizes.end();
}

// The number of elements from the start of the storage to the end of the view; -1: beyond 63 bits,
// as is the number of the view's own bytes.
int64_t elements_needed(const StoredTensor& t) {
  int64_t last = t.offset, bytes = element_size(t.dtype);
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    int64_t reach = 0;
    const int64_t size = std::max<int64_t>(t.sizes[d], 1);
    if (__builtin_mul_overflow(bytes, size, &bytes)) return -1;
    if (__builtin_mul_overflow(size - 1, t.strides[d], &reach)) return -1;
    if (__builtin_add_overflow(last, reach, &last)) return -1;
  }
  return last == std::numeric_limits<int64_t>::max() ? -1 : last + 1;
}

bool has_negative(const StoredTensor& t) {
  const auto negative = [](int64_t n) { return n < 0; };
  return t.offset < 0 || std::any_of(t.sizes.begin(), t.sizes.end(), negative) ||
         std::any_of(t.strides.begin(), t.strides.end(), negative);
}

}  // namespace

int StorageTable::add(const ZipArchive& archive, const ZipMember& member, bool big_endian) {
  Storage storage;
  storage.bytes = archive.read(member, backing_);
  storage.origin = archive.label() + ": " + member.name;
  const bool checked_later = member.method == 0 && member.crc != 0;
  if (checked_later) storage.crc = member.crc;
  storages_.push_back(std::move(storage));
  swap_unit_.push_back(big_endian ? kUnknownUnit : 0);
  return static_cast<int>(storages_.size() - 1);
}

void StorageTable::admit(StoredTensor& tensor, const std::string& where) {
  const Storage& storage = storages_.at(static_cast<size_t>(tensor.storage));
  if (tensor.sizes.size() != tensor.strides.size())
    user_error("{}: {} sizes but {} strides", where, tensor.sizes.size(), tensor.strides.size());
  if (has_negative(tensor))
    user_error("{}: a negative size, stride or offset (sizes {}, strides {}, offset {})", where,
               shape(tensor.sizes), shape(tensor.strides), tensor.offset);
  const int64_t available = size_of(tensor.storage) / element_size(tensor.dtype);
  const int64_t needed = elements_needed(tensor);
  if (needed < 0)
    user_error("{}: larger than memory can be (sizes {}, strides {}, offset {})", where,
               shape(tensor.sizes), shape(tensor.strides), tensor.offset);
  if (is_empty(tensor)) {
    tensor.offset = 0;
  } else if (needed > available) {
    user_error(
        "{}: reaches past its storage: sizes {}, strides {}, offset {} need {} elements of {}, "
        "'{}' has {}{}",
        where, shape(tensor.sizes), shape(tensor.strides), tensor.offset, needed,
        name(tensor.dtype), storage.origin, available,
        available == 0 ? " (was it exported from a fake tensor?)" : "");
  }
  swap_bytes(tensor.storage, tensor.dtype, where);
}

void StorageTable::swap_bytes(int storage, DType dtype, const std::string& where) {
  int64_t& unit = swap_unit_[static_cast<size_t>(storage)];
  if (unit == 0) return;
  const int64_t wanted = is_complex(dtype) ? element_size(dtype) / 2 : element_size(dtype);
  if (unit == wanted) return;
  if (unit != kUnknownUnit)
    user_error("{}: shares big-endian bytes with a tensor whose elements are {} bytes wide, not {}",
               where, unit, wanted);
  unit = wanted;
  Storage& target = storages_[static_cast<size_t>(storage)];
  if (target.crc && crc32_of(target.bytes) != *target.crc)
    user_error("{}: its bytes do not match their CRC; copy or export the archive again",
               target.origin);
  target.crc.reset();
  std::string& swapped = backing_.owned.emplace_back(target.bytes);
  for (size_t i = 0; i + static_cast<size_t>(unit) <= swapped.size();
       i += static_cast<size_t>(unit))
    std::reverse(&swapped[i], &swapped[i] + unit);
  target.bytes = swapped;
}

}  // namespace aotc::pt2
