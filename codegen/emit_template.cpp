#include "codegen/emit_template.h"

#include "codegen/cpp_text.h"
#include "ir/error.h"

namespace aotc {

using namespace loops;

namespace {

constexpr size_t kBatchDims = 4;  // of both templates

}  // namespace

// Its entry point is aotc_<name>.
const char* matmul_template(DType t) {
  switch (t) {
    case DType::Float32:
      return "matmul_f32";
    case DType::Float64:
      return "matmul_f64";
    case DType::BFloat16:
      return "matmul_bf16";
    case DType::Float16:
      return "matmul_f16";
    case DType::Int64:
      return "matmul_i64";
    case DType::Int32:
      return "matmul_i32";
    case DType::Int16:
      return "matmul_i16";
    case DType::Int8:
      return "matmul_i8";
    case DType::UInt8:
      return "matmul_u8";
    default:
      user_error("matrix products of {} are not supported", name(t));
  }
}

namespace {

std::string sort_template(DType t) { return fmt::format("sort_{}", element_size(t) * 8); }

const char* sort_kind(DType t) {
  return is_floating(t)         ? "AOTC_SORT_FLOAT"
         : is_signed_integer(t) ? "AOTC_SORT_SIGNED"
                                : "AOTC_SORT_UNSIGNED";
}

// The bits of infinity.
uint64_t infinity_bits(DType t) {
  switch (t) {
    case DType::Float64:
      return 0x7ff0000000000000;
    case DType::Float32:
      return 0x7f800000;
    case DType::BFloat16:
      return 0x7f80;
    case DType::Float16:
      return 0x7c00;
    default:
      if (is_floating(t) || is_complex(t)) user_error("sorting {} is not supported", name(t));
      return 0;
  }
}

// The dimensions of x that are neither sorted nor within an entry.
std::vector<size_t> row_dims(const Sort& s) {
  std::vector<size_t> dims;
  for (size_t d = 0; d < s.sizes.size(); ++d)
    if (static_cast<int>(d) != s.dim && static_cast<int>(d) != s.within) dims.push_back(d);
  AOTC_CHECK(dims.size() <= kBatchDims, "a sort has {} dimensions of rows", dims.size());
  return dims;
}

}  // namespace

std::set<std::string> TemplateEmitter::files(const Kernel& k) const {
  if (k.sort) return {"sort_scratch", sort_template(sorted_type(*k.sort))};
  return {"matmul_scratch", matmul_template(k.matmul->dtype)};
}

DType TemplateEmitter::sorted_type(const Sort& s) const {
  return p_.buffers[static_cast<size_t>(s.x)].dtype;
}

std::string TemplateEmitter::scratch_bytes(const Kernel& k) const {
  if (k.matmul) {
    const Matmul& m = *k.matmul;
    return fmt::format("aotc_matmul_scratch({}, {}, {}, {}, frame->threads)",
                       index_(product(m.batch_sizes)), index_(m.m), index_(m.n), index_(m.k));
  }
  const Sort& s = *k.sort;
  Sym rows(1);
  for (size_t d : row_dims(s)) rows = rows * s.sizes[d];
  const Sym width = s.within < 0 ? Sym(1) : s.sizes[static_cast<size_t>(s.within)];
  return fmt::format("aotc_sort_scratch({}, {}, {}, {}, {}, frame->threads)", index_(rows),
                     index_(s.sizes[static_cast<size_t>(s.dim)]), index_(s.count), index_(width),
                     element_size(sorted_type(s)) * 8);
}

std::string TemplateEmitter::call(const Kernel& k, const std::string& scratch) const {
  const std::string entry =
      k.matmul ? matmul_template(k.matmul->dtype) : sort_template(sorted_type(*k.sort));
  return fmt::format(
      "{{\n{} request = {{}};\n{}request.scratch = {};\nrequest.threads = frame->threads;\n"
      "request.parallel_context = frame->parallel_context;\n"
      "request.parallel_for = frame->parallel_for;\naotc_{}(&request);\n}}\n",
      k.matmul ? "AotcMatmul" : "AotcSort", k.matmul ? matmul(*k.matmul, true) : sort(*k.sort),
      scratch, entry);
}

// Bytes from the start of the buffer's home: element types may be unknown to program.cpp.
std::string TemplateEmitter::pointer(BufferId id, const Sym& offset, bool written) const {
  const Buffer& b = p_.buffers[static_cast<size_t>(id)];
  const Sym bytes = (offset + b.offset) * Sym(element_size(b.dtype));
  return fmt::format("({}char*){} + {}", written ? "" : "const ", home_(id), index_(bytes));
}

std::string TemplateEmitter::matmul(const Matmul& m, bool pointers) const {
  std::string text;
  for (size_t i = 0; i < kBatchDims; ++i)
    text += fmt::format("request.batch_sizes[{}] = {};\n", i,
                        i < m.batch_sizes.size() ? index_(m.batch_sizes[i]) : "1");
  text += fmt::format("request.m = {};\nrequest.n = {};\nrequest.k = {};\n", index_(m.m),
                      index_(m.n), index_(m.k));
  text += matmul_operand("a", m.a, false, pointers) + matmul_operand("b", m.b, false, pointers) +
          matmul_operand("c", m.c, true, pointers) + matmul_operand("d", m.d, false, pointers);
  return text + fmt::format("request.alpha = {};\nrequest.beta = {};\n",
                            cpp_constant(ScalarValue::of(m.alpha)),
                            cpp_constant(ScalarValue::of(m.beta)));
}

std::string TemplateEmitter::matmul_operand(const char* n, const MatmulOperand& o, bool written,
                                            bool pointers) const {
  if (o.buffer < 0) return "";
  std::string text;
  if (pointers) text = fmt::format("request.{} = {};\n", n, pointer(o.buffer, o.offset, written));
  for (size_t i = 0; i < o.batch.size(); ++i)
    text += fmt::format("request.{}_batch[{}] = {};\n", n, i, index_(o.batch[i]));
  return text + fmt::format("request.{}_row = {};\nrequest.{}_col = {};\n", n, index_(o.row), n,
                            index_(o.col));
}

std::string TemplateEmitter::sort(const Sort& s) const {
  const std::vector<size_t> rows = row_dims(s);
  const size_t dim = static_cast<size_t>(s.dim), within = static_cast<size_t>(s.within);
  std::string text;
  for (size_t i = 0; i < kBatchDims; ++i)
    text += fmt::format("request.batch_sizes[{}] = {};\n", i,
                        i < rows.size() ? index_(s.sizes[rows[i]]) : "1");
  text += fmt::format("request.n = {};\nrequest.count = {};\nrequest.width = {};\n",
                      index_(s.sizes[dim]), index_(s.count),
                      s.within < 0 ? "1" : index_(s.sizes[within]));
  text += fmt::format("request.x = {};\n", pointer(s.x, s.offset, false));
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("request.x_batch[{}] = {};\n", i, index_(s.strides[rows[i]]));
  text += fmt::format("request.x_step = {};\n", index_(s.strides[dim]));
  if (s.within >= 0) text += fmt::format("request.x_within = {};\n", index_(s.strides[within]));
  text += sort_result("values", s, s.values) + sort_result("indices", s, s.indices);
  return text + fmt::format(
                    "request.kind = {};\nrequest.descending = {};\nrequest.infinity = {}u;\n",
                    sort_kind(sorted_type(s)), s.descending ? 1 : 0, infinity_bits(sorted_type(s)));
}

// The strides are those of the buffer, wherever passes have placed it.
std::string TemplateEmitter::sort_result(const char* n, const Sort& s, BufferId id) const {
  if (id < 0) return "";
  const Buffer& b = p_.buffers[static_cast<size_t>(id)];
  std::string text = fmt::format("request.{} = {};\n", n, pointer(id, Sym(0), true));
  size_t row = 0;
  const std::vector<int> dims = s.result_dims();
  for (size_t d = 0; d < dims.size(); ++d)
    text += dims[d] == s.dim
                ? fmt::format("request.{}_step = {};\n", n, index_(b.strides[d]))
                : fmt::format("request.{}_batch[{}] = {};\n", n, row++, index_(b.strides[d]));
  return text;
}

}  // namespace aotc
