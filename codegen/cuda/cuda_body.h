// The statements of one GPU kernel. Where the threads of a row share an iteration, each takes every
// n-th iteration of a phase's loops; accumulators are combined over the row in a fixed order, so
// that results do not depend on timing; a barrier lies between phases that touch the same memory,
// unless each thread touches its own elements. Adjacent iterations that a thread takes at once form
// a pack: what lies side by side is loaded before them and stored after them.
#pragma once
#include "codegen/emit_body.h"

namespace aotc {

class CudaBody : public KernelBody {
 public:
  CudaBody(const loops::LoopProgram& p, const ScheduledKernel& s, bool canonical);
  std::string phases() override;
  // The axes of what one thread or row does for a position.
  std::vector<loops::Axis> outer_axes() const;

 protected:
  std::string phase(const loops::Phase& ph) override;
  const char* independent() const override { return ""; }
  bool vectorizes(const loops::Phase&) const override { return false; }
  std::string load(loops::ExprId id) const override;
  std::string store(const loops::Store& s) override;

 private:
  bool is_row() const { return s_.launch->unit == GpuLaunch::Unit::Row; }
  int width() const { return s_.launch->width; }
  std::string barrier() const;
  std::string barrier_before_stores(const loops::Phase& ph,
                                    const std::set<loops::ExprId>& loaded) const;
  bool depends(const loops::Phase& a, const loops::Phase& b) const;
  bool own_element(const loops::Phase& a, loops::BufferId x, const Sym& at, const loops::Phase& b,
                   loops::BufferId y, const Sym& other) const;

  // ---- the loop of a phase (cuda_row.cpp)

  std::string shared_loop(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  std::string kept_rounds(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  std::string fill_kept(const loops::Phase& ph, const std::vector<loops::ExprId>& loads);
  std::string in_round(const loops::Phase& ph, const std::string& text) const;
  bool keeps(const loops::Phase& ph, const std::set<loops::ExprId>& inner) const;
  std::string kept_element(int row) const;
  std::string combine_row(const loops::Phase& ph) const;
  std::string combine_best(int id) const;

  // ---- one iteration, or the iterations of a pack (cuda_pack.cpp)

  std::string counter(const loops::Phase& ph) const;
  std::string axes_of_pack(const loops::Phase& ph) const;
  std::string left_in_pack(const loops::Phase& ph) const;
  std::string pack_iteration(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  std::string load_packs(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  std::string each_element(const loops::Phase& ph, const std::string& text) const;
  std::string store_packs(const loops::Phase& ph) const;
  std::string address(loops::BufferId b, const Sym& at, const std::string& axis) const;
  bool is_packed(const loops::Store& s) const;
  StoreId id_of(const loops::Store& s) const;
  bool stays_on_chip(const loops::Store& s) const;

  const loops::Phase* looping_ = nullptr;       // the phase whose loop is being written
  bool in_rounds_ = false;                      // its first iterations, whose elements are kept
  std::map<loops::ExprId, std::string> packs_;  // loaded before the elements of the pack
};

}  // namespace aotc
