// The weights blob of a package: every storage that the archive names, 64-byte aligned, in order;
// and the names.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace aotc {

struct WeightStorage {
  int64_t bytes = 0;
  int64_t offset = -1;  // in the blob; -1: all zero bytes, not stored
  bool state = false;   // the program mutates it
  bool bools = false;   // all its names are of type bool
  int archive = -1;     // index into ExportedProgram::storages
  Device device = {};
};

struct WeightName {
  std::string name;
  int storage = 0;  // index into WeightLayout::storages
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // elements
  bool state = false;
};

struct WeightLayout {
  std::vector<WeightStorage> storages;
  std::vector<WeightName> names;
  int64_t blob_bytes = 0;
  int storage_index(int archive_storage) const;
};

WeightLayout layout_weights(const Graph& g);

// The blob's bytes, taken from the mapped archive piece by piece: weights may exceed the memory.
class WeightBlob {
 public:
  WeightBlob() = default;  // no bytes
  WeightBlob(const Graph& g, const WeightLayout& layout);

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Calls `take` with the bytes of [begin, end), in order.
  void read(int64_t begin, int64_t end, const std::function<void(std::string_view)>& take) const;
  std::string str() const;
  uint64_t digest() const;  // AotcProgram.weights_digest

 private:
  std::string range(int64_t begin, int64_t end) const;

  std::shared_ptr<const pt2::ExportedProgram> program_;
  std::vector<WeightStorage> storages_;  // those with bytes in the blob, by offset
  int64_t size_ = 0;
};

}  // namespace aotc
