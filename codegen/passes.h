// The passes of stages 5 and 6 over loop programs. Each is one function in one file.
#pragma once
#include "ir/loops.h"

namespace aotc {

// Gives each kernel its device and makes what crosses between devices explicit. Comes first.
void place_kernels(loops::LoopProgram& p);
// A load by a GPU kernel from memory of the host that it gets as an argument: of a single number.
bool is_scalar_argument(const loops::LoopProgram& p, const loops::Kernel& k,
                        const loops::Expr& load);
// InternalError unless every kernel touches memory of its own device, its arguments and transfers
// apart.
void verify_places(const loops::LoopProgram& p);
// Puts a wait in front of what on the host needs what comes from the device. Comes last.
void insert_waits(loops::LoopProgram& p);

// Turns selections between a row and the rest of a tensor, on the way to a write-back, into a copy
// and a store of the row.
void narrow_selections(loops::LoopProgram& p);

// Lets writes to parts of a tensor that follow one another go into one temporary.
void share_copies(loops::LoopProgram& p);

// Substitutes pointwise producers into the kernels that read them, where that saves memory traffic
// and costs no more than recomputing something cheap. Comes first: it leaves fewer, larger bodies
// to merge.
void inline_producers(loops::LoopProgram& p);

// Lets matrix products read the source of a copy in place of the copy, where that is a matter of
// strides. Before merging, which would put other things into the copy's kernel.
void absorb_copies(loops::LoopProgram& p);

// Moves checks, with the few kernels that they need, in front of everything that does not need to
// come before them: what a mutation overwrites is then overwritten after the last check that can
// fail, so that a call that fails changes nothing and the mutation needs no copy.
void hoist_checks(loops::LoopProgram& p);

// Merges a kernel into an earlier one over the same independent axes, so that values stay in
// registers or in cache: reductions with their producers and consumers, pointwise siblings,
// write-back copies. Every element that one writes and the other touches must belong to the same
// outer iteration.
void merge_kernels(loops::LoopProgram& p);

// Moves kernels that read the old content of `target` in front of the first one that writes
// `value`, where nothing that they need comes after it.
void move_readers_ahead(loops::LoopProgram& p, loops::BufferId value, loops::BufferId target);

// Splits kernels that write `value` and read `target`: they compute into temporaries of what they
// write, which kernels of their own then store.
void stage_updates(loops::LoopProgram& p, loops::BufferId value, loops::BufferId target);

// Lets kernels that compute parts of `value` and read `target` only ahead of where they store run
// their iterations, and come themselves, in that order.
void order_iterations(loops::LoopProgram& p, loops::BufferId value, loops::BufferId target);

// Proves write-backs direct: the value is computed in the storage it is written back to. Decisions,
// with reasons, go to p.write_backs. See write_back.cpp for the conditions.
void remove_write_back_copies(loops::LoopProgram& p);

// Tells which direct write-backs overwrite rows of a cache.
void find_cache_updates(loops::LoopProgram& p);

// Lets what computes a temporary store it where a later kernel only moves it. Comes last: it keeps
// the copies that the proofs kept.
void forward_stores(loops::LoopProgram& p);

}  // namespace aotc
