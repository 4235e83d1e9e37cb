// The calls of templates (templates/): the request of each as C++ statements.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "ir/loops.h"

namespace aotc {

// "matmul_<type>": its entry point is aotc_<name>, on the GPU too. UserError for other types.
const char* matmul_template(DType t);

class TemplateEmitter {
 public:
  // `index` prints an expression, `home` a pointer to a buffer's memory.
  using Index = std::function<std::string(const Sym&)>;
  using Home = std::function<std::string(loops::BufferId)>;
  TemplateEmitter(const loops::LoopProgram& program, Index index, Home home)
      : p_(program), index_(std::move(index)), home_(std::move(home)) {}

  // The files of templates/ that the call needs, without .cpp.
  std::set<std::string> files(const loops::Kernel& k) const;
  // The expression of the scratch's size.
  std::string scratch_bytes(const loops::Kernel& k) const;
  // The block of statements that makes the call.
  std::string call(const loops::Kernel& k, const std::string& scratch) const;
  // Statements that fill the fields of `request` with a product's sizes and strides; pointers only
  // where `pointers`.
  std::string matmul(const loops::Matmul& m, bool pointers) const;
  // Address of a buffer's element.
  std::string pointer(loops::BufferId id, const Sym& offset, bool written) const;

 private:
  std::string matmul_operand(const char* n, const loops::MatmulOperand& o, bool written,
                             bool pointers) const;
  std::string sort(const loops::Sort& s) const;
  std::string sort_result(const char* n, const loops::Sort& s, loops::BufferId id) const;
  DType sorted_type(const loops::Sort& s) const;

  const loops::LoopProgram& p_;
  Index index_;
  Home home_;
};

}  // namespace aotc
