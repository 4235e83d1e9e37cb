// Comparing runs number by number.
#include "agreement.h"

#include <cmath>

#include "ir/error.h"

namespace aotc::random_graphs {
namespace {

using interp::RunResult;
using interp::RunValue;

constexpr int kShakes = 6;

// All numbers of a result in a fixed order; the structure, to see whether two are comparable.
struct Numbers {
  std::vector<long double> values;
  std::vector<bool> floating;
  std::vector<std::string> where;  // one per tensor
  std::vector<size_t> begin;       // of each tensor
  std::string structure;

  void tensor(const interp::Tensor& t, const std::string& name) {
    where.push_back(name);
    begin.push_back(values.size());
    structure += fmt::format("{}{}[{}];", name, aotc::name(t.dtype), fmt::join(t.sizes, ","));
    for (int64_t p : interp::positions(t)) {
      ScalarValue v = interp::read(t, p);
      if (is_complex(t.dtype)) {
        auto [re, im] = as_complex(v);
        add(re, true);
        add(im, true);
      } else if (is_floating(t.dtype)) {
        add(as_double(v), true);
      } else {
        add(static_cast<long double>(as_int64(v)), false);
      }
    }
  }
  void value(const RunValue& v, const std::string& name) {
    if (auto* t = std::get_if<interp::Tensor>(&v)) return tensor(*t, name);
    if (auto* i = std::get_if<int64_t>(&v)) structure += fmt::format("{}={};", name, *i);
    if (auto* d = std::get_if<double>(&v)) structure += fmt::format("{}={};", name, *d);
    if (auto* b = std::get_if<bool>(&v)) structure += fmt::format("{}={};", name, *b);
  }
  void add(long double v, bool is_float) {
    values.push_back(v);
    floating.push_back(is_float);
  }
};

Numbers numbers(const RunResult& r, const RunResult& views) {
  Numbers n;
  n.structure = r.failure.empty() ? "" : "failed;";
  for (size_t i = 0; i < r.outputs.size() && r.failure.empty(); ++i)
    n.value(r.outputs[i], fmt::format("output {}", i));
  for (size_t i = 0; i < r.inputs.size(); ++i)
    n.value(r.inputs[i], fmt::format("input {} after the call", i));
  for (const auto& [number, list] : views.stored_views)
    for (interp::Tensor t : list) {
      auto it = r.storages.find(number);
      if (it == r.storages.end()) continue;
      t.memory = it->second;
      n.tensor(t, fmt::format("storage {} after the call", number));
    }
  return n;
}

bool equal(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string place(const Numbers& n, size_t i) {
  size_t t = n.begin.size() - 1;
  while (n.begin[t] > i) --t;
  return fmt::format("{}: number {}", n.where[t], i - n.begin[t]);
}

// The tensors with a number that the order of additions changes: the same holds for their zeros,
// where all orders tried may have met in one value (a matrix times its inverse).
std::vector<bool> rounded_tensors(const Numbers& expected, const std::vector<Numbers>& shaken) {
  std::vector<bool> rounded(expected.begin.size(), false);
  for (size_t t = 0; t < rounded.size(); ++t) {
    const size_t end = t + 1 < rounded.size() ? expected.begin[t + 1] : expected.values.size();
    for (const Numbers& s : shaken)
      for (size_t i = expected.begin[t]; i < end; ++i)
        if (!equal(s.values[i], expected.values[i])) rounded[t] = true;
  }
  return rounded;
}

}  // namespace

Reference::Reference(const Graph& graph, interp::RunInputs inputs)
    : graph_(&graph), inputs_(std::move(inputs)), result_(interp::run(graph, inputs_)) {}

void Reference::shake() {
  if (!shaken_.empty()) return;
  for (int i = 1; i <= kShakes; ++i) {
    interp::RunOptions options;
    options.jitter = static_cast<uint64_t>(i);
    try {
      shaken_.push_back(interp::run(*graph_, inputs_, options));
    } catch (const UserError&) {
      shaken_.push_back({});  // e.g. a size that depends on the sums
    }
  }
}

std::optional<std::string> Reference::difference(const RunResult& other) {
  const interp::Tolerance kNone{0, 0, false};
  Numbers expected = numbers(result_, result_), found = numbers(other, result_);
  auto rough = interp::compare(other, result_, kNone);
  bool same = expected.structure == found.structure;
  for (size_t i = 0; same && i < expected.values.size(); ++i)
    same = equal(expected.values[i], found.values[i]);
  // Bytes outside of views are compared there only.
  if (same)
    return rough && rough->find("outside of all views") != std::string::npos ? rough : std::nullopt;
  shake();
  std::vector<Numbers> shaken;
  for (const RunResult& r : shaken_) {
    shaken.push_back(numbers(r, result_));
    if (shaken.back().structure != expected.structure) return std::nullopt;
  }
  inexact_ = true;
  if (expected.structure != found.structure)
    return rough ? rough : fmt::format("{} against {}", found.structure, expected.structure);
  const std::vector<bool> rounded = rounded_tensors(expected, shaken);
  for (size_t i = 0, t = 0; i < expected.values.size(); ++i) {
    while (t + 1 < expected.begin.size() && expected.begin[t + 1] <= i) ++t;
    long double a = found.values[i], b = expected.values[i], spread = 0;
    if (equal(a, b)) continue;
    bool jumps = false;
    for (const Numbers& s : shaken) {
      jumps |= !std::isfinite(s.values[i]) ? !equal(s.values[i], b) : !std::isfinite(b);
      spread = std::max(spread, std::abs(s.values[i] - b));
    }
    if (jumps || (spread > 0 && !expected.floating[i])) continue;
    long double allowed = spread > 0 ? 8 * spread + 1e-7L + 1e-5L * std::abs(b)
                          : expected.floating[i] && rounded[t] ? 1e-7L
                                                               : 0;
    if (!(std::abs(a - b) <= allowed))
      return fmt::format("{} is {} against {}", place(expected, i), static_cast<double>(a),
                         static_cast<double>(b));
  }
  return std::nullopt;
}

}  // namespace aotc::random_graphs
