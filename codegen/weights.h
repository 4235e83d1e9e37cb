// The weights blob of a package: every storage that the archive names, 64-byte aligned, in order; and the names.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace aotc {

struct WeightStorage {
  int64_t bytes = 0;
  int64_t offset = -1;  // in the blob; -1: all zero bytes, not stored
  bool state = false;   // the program mutates it
  int archive = -1;     // index into ExportedProgram::storages
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
  std::string blob;
  int storage_index(int archive_storage) const;
};

WeightLayout layout_weights(const Graph& g);
uint64_t weights_blob_digest(const std::string& blob);

}  // namespace aotc
