// Everything that a call may change is recorded before it and judged after it.
#include "codegen/cli/check_case.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/cli/case_folder.h"
#include "codegen/cli/check_places.h"
#include "codegen/cli/compare.h"
#include "codegen/cli/numbers.h"

namespace fs = std::filesystem;

namespace aotc::cli {
namespace {

using Problems = std::vector<std::string>;

// The memory that a call sees, and what it held before.
struct Before {
  std::vector<HostTensor> inputs;
  std::vector<Array> values;
  std::map<HostStorage*, std::string> storages;
  std::map<std::string, Array> states;
  double scale = 0;  // typical magnitude of all of it
};

Before record(std::vector<HostTensor> inputs, const Model& model, const Session& session) {
  Before b;
  b.inputs = std::move(inputs);
  for (const HostTensor& t : b.inputs) {
    b.values.push_back(value_of(t));
    b.storages.emplace(t.storage.get(), t.storage->snapshot());
  }
  for (const TensorSpec& spec : model.states()) b.states[spec.name] = session.state(spec);
  for (const Array& a : b.values)
    if (is_floating(a.dtype)) b.scale = std::max(b.scale, typical_magnitude(a));
  for (const auto& [name, a] : b.states)
    if (is_floating(a.dtype)) b.scale = std::max(b.scale, typical_magnitude(a));
  return b;
}

void add(Problems& problems, const std::string& what, const std::string& text) {
  if (!text.empty()) problems.push_back(what + " " + text);
}

void check_outputs(const fs::path& folder, const CaseMeta& meta, Results& results,
                   const Before& before, Problems& problems) {
  std::map<int64_t, fs::path> expected = numbered_arrays(folder, "out");
  for (const auto& [i, file] : expected) {
    if (meta.ambiguous_outputs.contains(i)) continue;
    const std::string what = fmt::format("out{}", i);
    if (i >= static_cast<int64_t>(results.size()))
      add(problems, what, fmt::format("is expected, the program has {} outputs", results.size()));
    else if (const DLTensor* t = results.at(static_cast<size_t>(i)))
      add(problems, what, difference(value_of(*t), read_array(file), before.scale));
    else
      add(problems, what, "is None, a tensor is expected");
  }
  if (expected.empty()) return;
  for (size_t i = 0; i < results.size(); ++i) {
    const int64_t k = static_cast<int64_t>(i);
    if (results.at(i) && !expected.contains(k) && !meta.ambiguous_outputs.contains(k))
      add(problems, fmt::format("out{}", i), "is a tensor, the case expects None (has no file)");
  }
}

// A mutation may have given an input another shape; the caller's tensor keeps its own.
Array with_shape(Array array, const std::vector<int64_t>& shape) {
  if (count_elements(array.shape) == count_elements(shape)) array.shape = shape;
  return array;
}

bool shares_storage(const Before& before, size_t i) {
  return std::count_if(before.inputs.begin(), before.inputs.end(), [&](const HostTensor& t) {
           return t.storage == before.inputs[i].storage;
         }) > 1;
}

void check_inputs(const fs::path& folder, const Model& model, const CaseRules& rules,
                  const Before& before, Problems& problems) {
  const std::map<int64_t, fs::path> expected = numbered_arrays(folder, "mut");
  for (size_t i = 0; i < before.inputs.size(); ++i) {
    const Array now = value_of(before.inputs[i]);
    const auto file = expected.find(static_cast<int64_t>(i));
    const std::string what = fmt::format("mut{}", i);
    if (file != expected.end()) {
      add(problems, what,
          difference(now, with_shape(read_array(file->second), now.shape), before.scale));
      continue;
    }
    if (now.data == before.values[i].data) continue;
    const bool written =
        (i < model.inputs().size() && rules.mutated_inputs.contains(model.inputs()[i].name)) ||
        shares_storage(before, i);
    const std::string text = difference(now, before.values[i], before.scale);
    if (!written)
      add(problems, fmt::format("in{}", i), "changed and is not mutated " + text);
    else if (!text.empty())
      add(problems, fmt::format("in{}", i), "must not change: " + text);
  }
}

// Outside of the inputs' views no byte changes, nor around a storage.
void check_surroundings(const Before& before, Problems& problems) {
  for (const auto& [storage, old] : before.storages) {
    std::vector<bool> inside(old.size(), false);
    std::string users;
    for (size_t i = 0; i < before.inputs.size(); ++i) {
      if (before.inputs[i].storage.get() != storage) continue;
      mark_view(before.inputs[i], inside);
      users += fmt::format("{}in{}", users.empty() ? "" : ", ", i);
    }
    const std::string now = storage->snapshot();
    for (size_t b = 0; b < now.size(); ++b) {
      if (inside[b] || now[b] == old[b]) continue;
      add(problems, users,
          fmt::format("byte {} of the storage, outside of the view, was written",
                      static_cast<int64_t>(b) - HostStorage::kGuard));
      break;
    }
  }
}

void check_states(const fs::path& folder, const Session& session, const Before& before,
                  Problems& problems) {
  std::map<std::string, fs::path> expected = case_arrays(folder, "buf_");
  for (const auto& [name, file] : expected) {
    const Array value = read_array(file);
    try {
      add(problems, "state " + name,
          difference(session.state(name, value.dtype, value.shape), value, before.scale));
    } catch (const CallError& e) {
      add(problems, "state " + name, e.what());
    }
  }
  for (const auto& [name, old] : before.states) {
    if (expected.contains(name)) continue;
    add(problems, "state " + name,
        difference(session.state(name, old.dtype, old.shape), old, before.scale));
  }
}

// After a refused call everything is as it was.
void check_untouched(const Session& session, const Before& before, Problems& problems) {
  for (size_t i = 0; i < before.inputs.size(); ++i)
    if (value_of(before.inputs[i]).data != before.values[i].data)
      add(problems, fmt::format("in{}", i), "changed although the call failed");
  check_surroundings(before, problems);
  for (const auto& [name, old] : before.states)
    if (session.state(name, old.dtype, old.shape).data != old.data)
      add(problems, "state " + name, "changed although the call failed");
}

CaseResult result_of(const Problems& problems, const std::string& note) {
  if (problems.empty()) return {true, note};
  return {false, fmt::format("{}{}{}", fmt::join(problems, "; "), note.empty() ? "" : "; ", note)};
}

CaseResult judge(const CaseMeta& meta, const std::string& error) {
  if (meta.must_refuse || meta.may_refuse) return {true, "refused: " + error};
  return {false, error};
}

CaseResult run_case(const fs::path& folder, const Model& model, Session& session,
                    const CaseRules& rules) {
  const CaseMeta meta = read_case_meta(folder);
  const Before before = record(read_case_inputs(folder, meta), model, session);
  Problems problems;
  std::optional<Results> results;
  try {
    results.emplace(session.run(before.inputs));
  } catch (const CallError& e) {
    check_untouched(session, before, problems);
    session.go_on_after_failure(model);
    const CaseResult refusal = judge(meta, e.what());
    if (!refusal.ok || problems.empty()) return refusal;
    return result_of(problems, refusal.message);
  }
  if (meta.must_refuse) return {false, "the call must be refused (error.txt), it succeeded"};
  check_outputs(folder, meta, *results, before, problems);
  check_places(meta, rules.strict_aliases, before.inputs, *results, problems);
  check_inputs(folder, model, rules, before, problems);
  check_surroundings(before, problems);
  check_states(folder, session, before, problems);
  return result_of(problems, "");
}

}  // namespace

std::set<std::string> mutated_inputs(const std::string& manifest) {
  std::set<std::string> names;
  const nlohmann::json j = nlohmann::json::parse(manifest, nullptr, false);
  if (!j.is_object() || !j.contains("mutations")) return names;
  for (const nlohmann::json& m : j["mutations"])
    if (m.contains("input")) names.insert(m["input"].get<std::string>());
  return names;
}

CaseResult check_case(const fs::path& folder, const Model& model, Session& session,
                      const CaseRules& rules) {
  try {
    return run_case(folder, model, session, rules);
  } catch (const std::exception& e) {
    return {false, e.what()};
  }
}

CaseResult judge_refusal(const fs::path& folder, const std::string& error) {
  try {
    return judge(read_case_meta(folder), error);
  } catch (const std::exception& e) {
    return {false, e.what()};
  }
}

}  // namespace aotc::cli
