// The statements of one GPU kernel. Where the threads of a row share an iteration, each takes every
// n-th iteration of a phase's loops; accumulators are combined over the row in a fixed order, so
// that results do not depend on timing; a barrier lies between phases that touch the same memory.
#pragma once
#include "codegen/emit_body.h"

namespace aotc {

class CudaBody : public KernelBody {
 public:
  CudaBody(const loops::LoopProgram& p, const ScheduledKernel& s, bool canonical)
      : KernelBody(p, s, canonical) {}
  std::string phases() override;

 protected:
  std::string phase(const loops::Phase& ph) override;
  const char* independent() const override { return ""; }
  bool vectorizes(const loops::Phase&) const override { return false; }

 private:
  bool is_row() const { return s_.launch->unit == GpuLaunch::Unit::Row; }
  std::string barrier() const;
  std::string barrier_before_stores(const loops::Phase& ph,
                                    const std::set<loops::ExprId>& loaded) const;
  bool depends(const loops::Phase& a, const loops::Phase& b) const;
  std::string shared_loop(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  std::string combine_row(const loops::Phase& ph) const;
  std::string combine_best(int id) const;
};

}  // namespace aotc
