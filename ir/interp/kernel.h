// Runs one kernel of a loop program.
#pragma once
#include "ir/error.h"
#include "ir/interp/buffers.h"
#include "ir/interp/interp.h"

namespace aotc::interp {

// A check of the program failed: the call fails with this message.
class CheckFailed : public UserError {
 public:
  using UserError::UserError;
};

// Throws CheckFailed; InternalError, naming kernel and access, for an access outside of its buffer
// or a read of what nothing has written. Host kernels add their symbol.
void run_kernel(const loops::Kernel& k, Buffers& buffers, Symbols& symbols,
                const RunOptions& options);
// `narrow`: sums of at most float32 are held in float32, where they may overflow.
void run_matmul(const loops::Kernel& k, Buffers& buffers, const Symbols& symbols, bool narrow);
void run_sort(const loops::Kernel& k, Buffers& buffers, const Symbols& symbols);
// The mark of an element that is read must be set.
void require_written(const BufferMemory& b, int64_t position, const std::string& where);

}  // namespace aotc::interp
