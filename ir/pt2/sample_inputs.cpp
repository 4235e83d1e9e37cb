// The example inputs of torch.export.export, flattened to one value per input of the program.
#include <algorithm>

#include "ir/error.h"
#include "ir/pt2/payload.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"
#include "ir/pt2/torch_file.h"

namespace aotc::pt2 {
namespace {

constexpr int kMaxDepth = 64;
// A pickle may name one value in many places, so that walking it can take longer than reading it.
constexpr size_t kMaxVisits = 1 << 20;

// The names of keyword arguments in the order of the program's inputs. The context of the second
// child of in_spec holds them, as JSON within JSON.
std::vector<std::string> keyword_order(const ExportedProgram& program) {
  const std::string where = program.path + ": in_spec";
  if (program.in_spec.empty()) unsupported("{}: the program does not say their order", where);
  const JsonDocument spec(program.in_spec, where);
  const auto top = spec.root().elements();
  if (top.size() != 2) spec.root().fail("expected a version and a tree");
  const auto children = top[1].require("children_spec").elements();
  if (children.size() != 2) top[1].fail("expected a tree of (args, kwargs)");
  const JsonDocument names(children[1].require("context").text(), where);
  std::vector<std::string> order;
  for (const JsonRef name : names.root().elements()) order.push_back(name.text());
  return order;
}

// Flattens as torch.utils._pytree does: tuples, lists and dicts are nodes, dicts in order of
// insertion, all else, None included, is a leaf.
class Flattener {
 public:
  Flattener(const PickleHeap& heap, const std::string& where) : heap_(heap), where_(where) {}

  // The whole (args, kwargs).
  std::vector<SampleInput> flatten(PickleRef root, const ExportedProgram& program) {
    const auto* pair = heap_.get<PickleSequence>(root);
    const bool is_pair = pair != nullptr && pair->items.size() == 2;
    const auto* kwargs = is_pair ? heap_.get<PickleDict>(pair->items[1]) : nullptr;
    if (kwargs == nullptr) unsupported("{}: they are not a pair of (args, kwargs)", where_);
    visit(pair->items[0], 0);
    if (!kwargs->entries.empty())
      for (const std::string& name : keyword_order(program)) visit(value_of(*kwargs, name), 0);
    return std::move(leaves_);
  }

 private:
  PickleRef value_of(const PickleDict& dict, const std::string& key) const {
    for (auto it = dict.entries.rbegin(); it != dict.entries.rend(); ++it) {
      const auto* name = heap_.get<std::string>(it->first);
      if (name != nullptr && *name == key) return it->second;
    }
    unsupported("{}: they have no keyword argument {}", where_, quote(key));
  }

  void visit(PickleRef ref, int depth) {
    if (depth > kMaxDepth || ++visits_ > kMaxVisits)
      user_error("{}: nested too deeply or endlessly; export the program again", where_);
    if (const auto* sequence = heap_.get<PickleSequence>(ref)) {
      for (const PickleRef item : sequence->items) visit(item, depth + 1);
    } else if (const auto* dict = heap_.get<PickleDict>(ref)) {
      for (const auto& [key, value] : dict->entries) visit(value, depth + 1);
    } else {
      leaves_.push_back(leaf(heap_.at(ref)));
    }
  }

  SampleInput leaf(const PickleValue& value) const {
    if (const auto* v = std::get_if<StoredTensor>(&value)) return *v;
    if (const auto* v = std::get_if<bool>(&value)) return *v;
    if (const auto* v = std::get_if<int64_t>(&value)) return *v;
    if (const auto* v = std::get_if<double>(&value)) return *v;
    if (const auto* v = std::get_if<std::string>(&value)) return *v;
    if (std::holds_alternative<None>(value)) return None{};
    unsupported("{}: they hold {}", where_, describe(value));
  }

  const PickleHeap& heap_;
  const std::string& where_;
  size_t visits_ = 0;
  std::vector<SampleInput> leaves_;
};

size_t user_input_count(const ExportedProgram& program) {
  return static_cast<size_t>(
      std::count_if(program.input_specs.begin(), program.input_specs.end(), [](const InputSpec& s) {
        return s.kind == InputKind::UserInput || s.kind == InputKind::ConstantInput;
      }));
}

std::vector<SampleInput> read(const ZipArchive& archive, const Container& parts,
                              StorageTable& storages, const ExportedProgram& program) {
  const std::string label =
      fmt::format("{}: {}", archive.label(), quote(parts.sample_inputs->name));
  const std::string_view bytes = archive.read(*parts.sample_inputs, storages.backing());
  if (bytes.empty()) unsupported("{}: there are none", label);
  const Pickle pickle = read_torch_file(bytes, label, storages);
  std::vector<SampleInput> samples = Flattener(pickle.heap, label).flatten(pickle.root, program);
  const size_t expected = user_input_count(program);
  if (samples.size() != expected)
    unsupported("{}: they flatten to {} values, the program has {} inputs", label, samples.size(),
                expected);
  return samples;
}

}  // namespace

void read_sample_inputs(const ZipArchive& archive, const Container& parts, StorageTable& storages,
                        ExportedProgram& program) {
  if (parts.sample_inputs == nullptr) {
    program.notes.push_back("the archive has no sample inputs");
    return;
  }
  try {
    program.sample_inputs = read(archive, parts, storages, program);
    program.has_sample_inputs = true;
  } catch (const UnsupportedError& e) {
    program.notes.push_back(fmt::format("the sample inputs are not used: {}", e.what()));
  }
}

}  // namespace aotc::pt2
