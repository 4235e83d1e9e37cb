// The storages of one program while it is read, and the checks that tensors must pass to be views
// of them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/pt2/exported_program.h"
#include "ir/pt2/zip.h"

namespace aotc::pt2 {

class StorageTable {
 public:
  StorageTable(std::vector<Storage>& storages, Backing& backing)
      : storages_(storages), backing_(backing) {}

  Backing& backing() { return backing_; }
  int64_t size_of(int storage) const {
    return static_cast<int64_t>(storages_[static_cast<size_t>(storage)].bytes.size());
  }

  // Makes a storage of a member of an archive, without touching its bytes where it is stored.
  int add(const ZipArchive& archive, const ZipMember& member, bool big_endian);

  // Checks that `tensor` lies inside its storage, and brings a big-endian storage into this
  // machine's byte order when its first tensor says how wide the elements are. An empty tensor gets
  // offset 0. `where` names the tensor in messages.
  void admit(StoredTensor& tensor, const std::string& where);

 private:
  void swap_bytes(int storage, DType dtype, const std::string& where);

  std::vector<Storage>& storages_;
  Backing& backing_;
  std::vector<int64_t> swap_unit_;  // bytes; 0: no need to swap, -1: to be swapped
};

}  // namespace aotc::pt2
