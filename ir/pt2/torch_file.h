// Reads what torch.save writes: a zip archive with a pickle, data.pkl, and a member per storage.
#pragma once
#include <string>
#include <string_view>

#include "ir/pt2/pickle.h"
#include "ir/pt2/storage_table.h"

namespace aotc::pt2 {

// Reads a file of torch.save that lies in `bytes`. Its storages are appended to `storages`; tensors
// that share one have the same index; their bounds are checked. `label` names the file in messages.
// Throws UnsupportedError for what is well-formed but no strided tensor or plain value.
Pickle read_torch_file(std::string_view bytes, const std::string& label, StorageTable& storages);

// Whether the bytes begin as torch.save's files before zip did.
bool is_legacy_torch_file(std::string_view bytes);

// A "byteorder" member of an archive, "little" or "big"; without one it is little.
bool is_big_endian(const ZipArchive& archive, const std::string& prefix, Backing& backing);

}  // namespace aotc::pt2
