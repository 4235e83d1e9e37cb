// Setting up a call, and telling what it changed.
#include "ir/interp/call.h"

#include <algorithm>

#include "ir/input_layout.h"
#include "ir/interp/views.h"

namespace aotc::interp {

Call::Call(const Graph& graph, const RunInputs& inputs) : graph_(graph) {
  symbols = bind_symbols(graph, inputs);
  for (const auto& [number, memory] : inputs.storages)
    storages_[number] = std::make_shared<Memory>(*memory);
  copy_inputs(inputs);
}

// Memory that the given tensors share is shared by the copies.
void Call::copy_inputs(const RunInputs& inputs) {
  std::map<const Memory*, std::shared_ptr<Memory>> copies;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const Input& in = graph_.inputs[i];
    RunValue value = inputs.inputs[i];
    Tensor t;
    if (auto* given = std::get_if<Tensor>(&value)) {
      auto& memory = copies[given->memory.get()];
      if (!memory)
        memory =
            given->memory ? std::make_shared<Memory>(*given->memory) : std::make_shared<Memory>(0);
      given->memory = memory;
      t = *given;
    } else if (in.value && in.value->kind == ValueKind::Tensor) {
      t = stored(in);
    }
    values_.push_back(std::move(value));
    tensors_.push_back(std::move(t));
  }
}

Tensor Call::stored(const Input& in) {
  if (in.stored.storage < 0) user_error("input '{}' has no storage in the archive", in.name);
  Tensor t{in.value->type.dtype, in.stored.sizes, in.stored.strides, in.stored.offset,
           storage(in.stored.storage)};
  if (!fits(t))
    user_error("'{}' does not fit into storage {} of {} bytes", in.target, in.stored.storage,
               t.memory->size());
  return t;
}

std::shared_ptr<Memory> Call::storage(int number) {
  auto& memory = storages_[number];
  if (memory) return memory;
  const auto& program = graph_.program;
  if (!program || number < 0 || number >= static_cast<int>(program->storages.size()))
    user_error("storage {} has no bytes; attach the archive or give them", number);
  return memory = Memory::borrow(program->storages[static_cast<size_t>(number)].bytes);
}

void Call::stage(const std::function<bool(size_t)>& must_stage, bool keep_exported) {
  const Assumptions known = graph_.assumptions();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const Input& in = graph_.inputs[i];
    if (in.kind != InputKind::User || !tensors_[i].memory) continue;
    const auto is_given = [&](const std::vector<int64_t>& strides) {
      return same_strides(tensors_[i].sizes, tensors_[i].strides, strides) && !must_stage(i);
    };
    const TensorType& type = in.value->type;
    if (keep_exported && !type.strides.empty() && is_given(eval(type.strides, symbols))) continue;
    const std::vector<int64_t> strides = eval(compiled_strides(type, known), symbols);
    if (is_given(strides)) continue;
    Tensor t = empty_strided(tensors_[i].dtype, tensors_[i].sizes, strides);
    assign(t, tensors_[i]);
    staged_.push_back({i, tensors_[i], copy(t)});
    tensors_[i] = t;
  }
}

void Call::unstage() {
  for (const Staged& s : staged_) {
    const Tensor now = copy(tensors_[s.input]);
    bool same = std::equal(now.memory->data(), now.memory->data() + now.memory->size(),
                           s.original.memory->data());
    if (same) continue;
    if (overlaps_itself(s.given))
      user_error("input '{}' is mutated, but several of its elements share memory; clone it first",
                 graph_.inputs[s.input].name);
    assign(s.given, now);
  }
}

RunResult Call::result() const {
  RunResult r;
  r.inputs = values_;
  r.storages = storages_;
  for (const Input& in : graph_.inputs)
    if (in.stored.storage >= 0 && in.value)
      r.stored_views[in.stored.storage].push_back(
          {in.value->type.dtype, in.stored.sizes, in.stored.strides, in.stored.offset, nullptr});
  return r;
}

int Call::owner_of(const Tensor& t) const {
  int parameter = -1;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!t.memory || tensors_[i].memory != t.memory) continue;
    InputKind kind = graph_.inputs[i].kind;
    if (kind == InputKind::User || kind == InputKind::Buffer) return static_cast<int>(i);
    parameter = static_cast<int>(i);
  }
  return parameter;
}

}  // namespace aotc::interp
