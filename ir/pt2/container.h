// Where the parts of a program lie in its archive, in the three layouts that torch has written.
#pragma once
#include <string>

#include "ir/pt2/zip.h"

namespace aotc::pt2 {

struct Container {
  const ZipMember* program = nullptr;  // JSON
  // torch 2.5 to 2.8: files of torch.save. Else nullptr, and the configs below are there.
  const ZipMember* weights_pickle = nullptr;
  const ZipMember* constants_pickle = nullptr;
  // torch 2.9 and later: JSON that lists tensors and their files.
  const ZipMember* weights_config = nullptr;
  const ZipMember* constants_config = nullptr;
  std::string weights_folder, constants_folder;  // of the files that the configs list
  const ZipMember* sample_inputs = nullptr;      // a file of torch.save; nullptr: absent
  bool big_endian = false;                       // the files that the configs list
};

// Finds the parts; of several programs the one named "model", as torch.export.load does. Throws
// UserError that says what the archive is where it is no exported program.
Container locate_parts(const ZipArchive& archive, Backing& backing);

}  // namespace aotc::pt2
