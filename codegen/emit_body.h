// The statements of one kernel: its scalar expressions and its phases, loop by loop.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit.h"

namespace aotc {

class KernelBody {
 public:
  // `canonical`: names say nothing, so that kernels that do the same have the same text.
  KernelBody(const loops::LoopProgram& p, const ScheduledKernel& s, bool canonical);
  virtual ~KernelBody() = default;

  // The name of a buffer's pointer.
  const std::string& pointer(loops::BufferId b) const { return pointers_.at(b); }
  std::string index(const Sym& s) const { return cpp_index(s, assumptions_, index_type()); }
  // The type of indices.
  virtual const char* index_type() const { return "int64_t"; }
  // The text that yields expression `id`: its variable if it has one, else the formula.
  std::string value(loops::ExprId id) const;
  // Adds `id` and all that it needs.
  void need(loops::ExprId id, std::set<loops::ExprId>& out) const;
  // Declarations of the expressions of `ids`, in order, that deserve a name; `cross`: a loop lies
  // between them and their uses; `when`: the condition under which that loop runs at all, and loads
  // are inside their memory ("": always).
  std::string declarations(const std::set<loops::ExprId>& ids, bool cross,
                           const std::string& when = "");
  // Declares the axes by their place in the row-major order of all their iterations.
  std::string axes_from(const std::vector<loops::Axis>& axes, const std::string& position) const;
  std::string loop_head(const loops::Axis& a, const std::string& begin,
                        const std::string& end) const;
  virtual std::string phases();

 protected:
  virtual std::string phase(const loops::Phase& ph);
  // In front of a loop with independent iterations.
  virtual const char* independent() const { return "AOTC_INDEPENDENT\n"; }
  // Whether the phase's accumulators have one value per lane.
  virtual bool vectorizes(const loops::Phase& ph) const;
  // The expressions that the phase evaluates, those outside of its loops apart.
  void split(const loops::Phase& ph, std::set<loops::ExprId>& outer,
             std::set<loops::ExprId>& inner) const;
  void count_uses();
  static std::string accumulator_name(int a);
  void need_sym(const Sym& s, std::set<loops::ExprId>& out) const;
  bool changes_while(const loops::Expr& e, const std::vector<loops::Axis>& axes) const;
  bool depends_on(loops::ExprId id, const std::vector<loops::Axis>& axes,
                  const std::vector<int>& running) const;
  bool deserves_name(loops::ExprId id, bool crosses_loop) const;
  std::string declaration(loops::ExprId id, const std::string& when);
  // The condition that each of the loops has an iteration; "" where that is known.
  std::string runs_at_all(const std::vector<loops::Axis>& axes) const;
  // A load without its guard.
  virtual std::string load(loops::ExprId id) const;
  virtual std::string store(const loops::Store& s);
  std::string combine(const loops::Accumulator& a, const std::string& acc,
                      const std::string& v) const;
  // One iteration's updates of the phase's accumulators; `lane` is "" or "[lane]".
  std::string updates(const loops::Phase& ph, const std::string& lane);
  std::string initial_accumulators(const loops::Phase& ph, bool lanes);
  std::string fold_lanes(const loops::Phase& ph) const;
  // The body of one inner iteration.
  std::string body(const loops::Phase& ph, const std::set<loops::ExprId>& inner,
                   const std::string& lane);
  bool reads_accumulator_of(const loops::Phase& ph, loops::ExprId id) const;
  std::string plain_loop(const loops::Phase& ph, const std::set<loops::ExprId>& inner);
  // Blocks of kLanes iterations, each lane with its own accumulators; then the rest, lane by lane.
  std::string lane_loop(const loops::Phase& ph, const std::set<loops::ExprId>& inner);

  const loops::LoopProgram& p_;
  const ScheduledKernel& s_;
  const loops::Kernel& k_;
  Assumptions assumptions_;
  std::map<loops::BufferId, std::string> pointers_;
  std::vector<int> uses_;
  bool has_several_stores_ = false;  // some phase stores more than once
  std::set<loops::ExprId> indices_;  // expressions that index expressions name
  std::set<loops::ExprId> named_;
  std::set<int> in_lanes_;  // accumulators with one value per lane
};

}  // namespace aotc
