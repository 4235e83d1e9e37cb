// read_pt2: maps the archive, finds its parts, reads each, and checks that they fit together.
#include <memory>
#include <new>
#include <stdexcept>

#include "ir/error.h"
#include "ir/pt2/container.h"
#include "ir/pt2/exported_program.h"
#include "ir/pt2/payload.h"
#include "ir/pt2/quote.h"
#include "ir/pt2/schema.h"
#include "ir/pt2/torch_file.h"

namespace aotc::pt2 {
namespace {

// Deflate yields at most this many bytes for one; members that overlap could claim more.
constexpr uint64_t kMaxInflation = 1032;

std::string program_name(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".pt2")) name.resize(name.size() - 4);
  return name;
}

// Files that users mistake for archives, told from their first bytes.
void check_is_zip(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with("PK")) return;
  const char* what = "not a zip archive";
  if (is_legacy_torch_file(bytes)) what = "a file of torch.save before zip, no exported program";
  if (bytes.starts_with("version https://git-lfs")) what = "a Git LFS pointer; fetch the real file";
  if (bytes.starts_with("\x1f\x8b")) what = "packed by gzip; unpack it first";
  user_error("{}: is {}; a .pt2 file that torch.export.save wrote is expected", path, what);
}

const StoredTensor* find_stored(const ExportedProgram& program, const std::string& name) {
  const auto state = program.state_dict.find(name);
  if (state != program.state_dict.end()) return &state->second;
  const auto constant = program.constants.find(name);
  return constant == program.constants.end() ? nullptr : &constant->second;
}

bool same_sizes(const TensorMeta& declared, const StoredTensor& stored) {
  if (declared.sizes.size() != stored.sizes.size()) return false;
  for (size_t d = 0; d < stored.sizes.size(); ++d) {
    const SymIntExpr& size = declared.sizes[d];
    if (size.expr.empty() && size.value != stored.sizes[d]) return false;
  }
  return true;
}

std::string declared_sizes(const TensorMeta& meta) {
  std::string out;
  for (const SymIntExpr& size : meta.sizes)
    out += (out.empty() ? "" : ", ") + (size.expr.empty() ? std::to_string(size.value) : size.expr);
  return out;
}

// A parameter, buffer or constant must have data of the type and sizes that the graph computes
// with.
void check_lifted(const ExportedProgram& program, const InputSpec& spec, ErrorList& errors) {
  const bool lifted = spec.kind == InputKind::Parameter || spec.kind == InputKind::Buffer ||
                      spec.kind == InputKind::TensorConstant;
  if (!lifted) return;
  const StoredTensor* stored = find_stored(program, spec.target);
  if (stored == nullptr) {
    errors.add(fmt::format("{}: {} has no data in the archive; export the program again",
                           program.path, quote(spec.target)));
    return;
  }
  const auto* tensor = std::get_if<TensorName>(&spec.arg.value);
  if (tensor == nullptr) return;
  const auto declared = program.graph.tensor_values.find(tensor->name);
  if (declared == program.graph.tensor_values.end()) {
    errors.add(fmt::format("{}: the graph does not describe its input {}; export the program again",
                           program.path, quote(tensor->name)));
    return;
  }
  const TensorMeta& meta = declared->second;
  if (meta.dtype == stored->dtype && same_sizes(meta, *stored)) return;
  errors.add(fmt::format(
      "{}: {} is {} [{}] in the graph, but its data are {} [{}]; export the program again",
      program.path, quote(spec.target), name(meta.dtype), declared_sizes(meta), name(stored->dtype),
      fmt::join(stored->sizes, ", ")));
}

ExportedProgram read(const std::string& path) {
  ExportedProgram program;
  program.path = path;
  program.name = program_name(path);
  const auto backing = std::make_shared<Backing>();
  backing->file = MappedFile(path);
  backing->inflate_budget = backing->file.bytes().size() * kMaxInflation;
  program.mapping = backing;
  check_is_zip(backing->file.bytes(), path);

  const ZipArchive archive(backing->file.bytes(), path);
  const Container parts = locate_parts(archive, *backing);
  {
    JsonDocument document(archive.read_checked(*parts.program, *backing),
                          fmt::format("{}: {}", path, quote(parts.program->name)));
    parse_program(document, program);
  }
  StorageTable storages(program.storages, *backing);
  read_weights(archive, parts, storages, program);
  read_sample_inputs(archive, parts, storages, program);

  ErrorList errors;
  for (const InputSpec& spec : program.input_specs) check_lifted(program, spec, errors);
  errors.throw_if_any();
  return program;
}

}  // namespace

ExportedProgram read_pt2(const std::string& path) {
  try {
    return read(path);
  } catch (const std::bad_alloc&) {
    user_error("{}: not enough memory to read it", path);
  } catch (const std::length_error&) {
    user_error("{}: not enough memory to read it", path);
  }
}

void verify_weights(const ExportedProgram& program) {
  ErrorList errors;
  for (const Storage& storage : program.storages) {
    if (!storage.crc || crc32_of(storage.bytes) == *storage.crc) continue;
    errors.add(fmt::format(
        "{}: the bytes of these weights do not match their CRC; copy or export the archive again",
        storage.origin));
  }
  errors.throw_if_any();
}

}  // namespace aotc::pt2
