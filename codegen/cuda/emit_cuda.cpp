#include "codegen/cuda/emit_cuda.h"

#include <algorithm>

#include "codegen/cpp_text.h"
#include "codegen/cuda/cuda_body.h"
#include "codegen/kernel_edit.h"
#include "codegen/source_library.h"
#include "ir/template_kernel.h"

// Text of kernels.cu.
namespace aotc {

using namespace loops;

namespace {

bool is_device_check(const ScheduledKernel& s) {
  return s.launch && s.kernel.kind == KernelKind::Check;
}

class CudaKernelEmitter {
 public:
  CudaKernelEmitter(const LoopProgram& p, const ScheduledKernel& s, bool canonical, bool checked)
      : p_(p),
        s_(s),
        k_(s.kernel),
        name_(canonical ? "kernel" : k_.name),
        checked_(checked || is_device_check(s)),
        params_(parameters_of(p, s)),
        body_(p, s, canonical) {}

  std::string text() {
    const bool row = s_.launch->unit == GpuLaunch::Unit::Row;
    const std::string work = k_.kind == KernelKind::Check ? check() : body_.phases();
    std::string out = fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n",
                                  s_.launch->threads * s_.launch->rows, name_, parameter_list());
    if (checked_) out += "if (failure->check != 0) return;\n";
    if (row) out += row_start(work.find("combine_row<") != std::string::npos);
    const std::string count = body_.index(s_.outer_count);
    out +=
        fmt::format("for (int64_t position = {}; position < {}; position += {}) {{\n{}{}}}\n}}\n\n",
                    row ? row_position() : "int64_t(blockIdx.x) * blockDim.x + threadIdx.x", count,
                    row ? row_step() : "int64_t(gridDim.x) * blockDim.x",
                    body_.axes_from(k_.axes, "position"), work);
    return out;
  }

 private:
  std::string parameter_list() const {
    const std::set<BufferId> written = buffers_written(k_);
    std::vector<std::string> list;
    for (BufferId b : params_.buffers)
      list.push_back(fmt::format("{}{}* {}", written.contains(b) ? "" : "const ", type_of(b),
                                 body_.pointer(b)));
    for (BufferId b : params_.values)
      list.push_back(fmt::format("{} {}", type_of(b), body_.pointer(b)));
    for (const std::string& s : params_.symbols) list.push_back("int64_t " + s);
    if (checked_) list.push_back("DeviceFailure* failure");
    if (k_.kind == KernelKind::Check) list.push_back("int32_t number");
    return fmt::format("{}", fmt::join(list, ", "));
  }

  const char* type_of(BufferId b) const {
    return cpp_type(p_.buffers[static_cast<size_t>(b)].dtype);
  }

  std::string row_start(bool combines) const {
    std::string text = "const int64_t lane = threadIdx.x;\n";
    if (combines) text += "__shared__ SharedWord shared[2 * 32];\n";
    return text;
  }
  std::string row_position() const {
    return s_.launch->rows == 1
               ? "blockIdx.x"
               : fmt::format("int64_t(blockIdx.x) * {} + threadIdx.y", s_.launch->rows);
  }
  std::string row_step() const {
    return s_.launch->rows == 1 ? "gridDim.x"
                                : fmt::format("int64_t(gridDim.x) * {}", s_.launch->rows);
  }

  std::string check() {
    std::set<ExprId> needed;
    body_.need(k_.condition, needed);
    body_.need(k_.report, needed);
    return body_.declarations(needed, false) +
           fmt::format("if (!{}) fail(failure, number, {});\n", body_.value(k_.condition),
                       k_.report < 0 ? "0" : body_.value(k_.report));
  }

  const LoopProgram& p_;
  const ScheduledKernel& s_;
  const Kernel& k_;
  const std::string name_;
  const bool checked_;
  const KernelParameters params_;
  CudaBody body_;
};

bool is_device_template(const ScheduledKernel& s) {
  return is_template(s.kernel) && !(s.kernel.device == Device{});
}

// ---- matrix products

// {type, type of its sums, how numbers are converted}
struct MatmulTypes {
  std::string type, sum, number;
};

MatmulTypes matmul_types(DType t) {
  const std::string type = cpp_type(t);
  if (is_half(t)) return {type, "float", fmt::format("MatmulHalf<{}>", type)};
  const std::string sum = is_floating(t) ? type : element_size(t) == 8 ? "uint64_t" : "uint32_t";
  return {type, sum, fmt::format("MatmulNumber<{}, {}>", type, sum)};
}

std::string matmul_entry(DType t, bool checked) {
  const MatmulTypes types = matmul_types(t);
  std::string text(cuda_matmul_entry_text());
  for (const auto& [hole, value] : std::vector<std::pair<std::string, std::string>>{
           {"@NAME@", matmul_template(t)},
           {"@TYPE@", types.type},
           {"@SUM@", types.sum},
           {"@NUMBER@", types.number},
           {"@FLOATING@", is_floating(t) ? "true" : "false"},
           {"@FAILURE@", checked ? ", DeviceFailure* failure" : ""},
           {"@RETURN@", checked ? "if (failure->check != 0) return;\n  " : ""}})
    replace_all(text, hole, value);
  return text;
}

std::string matmul_launch(const CudaSources& sources, const Kernel& k,
                          const std::function<std::string(const Sym&)>& index,
                          const TemplateEmitter& templates) {
  const Matmul& m = *k.matmul;
  std::string text = "{\nAotcGpuMatmul request = {};\n" + templates.matmul(m, false);
  text +=
      fmt::format("const void* a = {};\nconst void* b = {};\nvoid* c = {};\nconst void* d = {};\n",
                  templates.pointer(m.a.buffer, m.a.offset, false),
                  templates.pointer(m.b.buffer, m.b.offset, false),
                  templates.pointer(m.c.buffer, m.c.offset, true),
                  m.d.buffer < 0 ? "NULL" : templates.pointer(m.d.buffer, m.d.offset, false));
  text +=
      fmt::format("const int64_t tiles = (({}) + 63) / 64 * ((({}) + 63) / 64), batches = {};\n",
                  index(m.m), index(m.n), index(product(m.batch_sizes)));
  text += fmt::format("void* arguments[] = {{&a, &b, &c, &d, &request{}}};\n",
                      sources.checks.empty() ? "" : ", &frame->device_failure");
  text += fmt::format(
      "const AotcLaunch launch = {{{}, {{grid_size(tiles, 1), 1, batches < 65535 ? "
      "(uint32_t)batches : 65535u}}, {{256, 1, 1}}, 0, arguments}};\n",
      sources.number_of(fmt::format("aotc_{}", matmul_template(m.dtype))));
  return text + "if (tiles > 0 && batches > 0 && frame->launch(frame, &launch)) return 1;\n}\n";
}

bool capturable(const std::vector<ScheduledKernel>& kernels) {
  return std::ranges::all_of(kernels, [](const ScheduledKernel& s) {
    if (s.launch || s.kernel.kind == KernelKind::Check) return true;
    return is_device_template(s);
  });
}

}  // namespace

std::string cuda_text(const LoopProgram& p, const ScheduledKernel& k, bool canonical, bool checked,
                      const std::string& comment) {
  return comment + CudaKernelEmitter(p, k, canonical, checked).text();
}

int CudaSources::number_of(const std::string& kernel) const {
  const auto it = std::ranges::find(names, kernel);
  AOTC_CHECK(it != names.end(), "no GPU kernel is named {}", kernel);
  return static_cast<int>(it - names.begin());
}

CudaSources cuda_sources(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                         const EmitOptions& options) {
  CudaSources out;
  if (plan.gpu_device() == Device{}) return out;
  const bool checked = std::ranges::any_of(kernels, is_device_check);
  std::map<std::string, std::string> comments;  // by function
  for (const ScheduledKernel& s : kernels)
    if (s.launch) comments[s.function] += comment_for(s.kernel);
  std::string body;
  for (const ScheduledKernel& s : kernels) {
    if (is_device_check(s)) out.checks.emplace_back(s.kernel.message, s.kernel.report >= 0);
    if (!s.launch || s.function != s.kernel.name) continue;
    out.names.push_back(s.function);
    body += cuda_text(plan.program, s, false, checked, comments[s.function]);
  }
  std::set<DType> products;
  for (const ScheduledKernel& s : kernels)
    if (is_device_template(s) && products.insert(s.kernel.matmul->dtype).second) {
      out.names.push_back(fmt::format("aotc_{}", matmul_template(s.kernel.matmul->dtype)));
      if (products.size() == 1) body += cuda_matmul_text();
      body += matmul_entry(s.kernel.matmul->dtype, checked);
    }
  out.names.push_back("aotc_strided_copy");
  out.capturable = capturable(kernels);
  const std::string prologue(cuda_prologue_text());
  std::string head = fmt::format(
      "// GPU kernels of {}, generated by aotc. Each names the ops and Python lines that it "
      "computes.\n",
      options.name);
  head += std::string(cuda_compilers_text()) + std::string(number_types_text()) +
          "\nnamespace aotc {\n\n" +
          SourceLibrary(scalar_library_text()).needed_by(body + prologue) + prologue + "\n";
  out.kernels = {"kernels.cu", head + body + "}  // namespace aotc\n", head.size()};
  return out;
}

std::string launch_text(const CudaSources& sources, const LoopProgram& p, const ScheduledKernel& s,
                        const std::function<std::string(const Sym&)>& index,
                        const std::function<std::string(BufferId)>& home,
                        const TemplateEmitter& templates) {
  if (is_template(s.kernel)) return matmul_launch(sources, s.kernel, index, templates);
  const KernelParameters params = parameters_of(p, s);
  const bool checked = !sources.checks.empty();
  std::vector<std::string> arguments;
  std::string text = "{\n";
  auto argument = [&](const std::string& type, const std::string& value) {
    text += fmt::format("{} a{} = {};\n", type, arguments.size(), value);
    arguments.push_back(fmt::format("(void*)&a{}", arguments.size()));
  };
  for (BufferId b : params.buffers) argument("void*", fmt::format("(void*){}", home(b)));
  for (BufferId b : params.values) {
    const Buffer& buffer = p.buffers[static_cast<size_t>(b)];
    const Sym bytes = buffer.offset * Sym(element_size(buffer.dtype));
    arguments.push_back(fmt::format("(void*)((char*){} + {})", home(b), index(bytes)));
  }
  for (const std::string& n : params.symbols) argument("int64_t", n);
  if (checked) argument("void*", "frame->device_failure");
  if (is_device_check(s)) {
    size_t number = 0;
    while (sources.checks[number].first != s.kernel.message) ++number;
    argument("int32_t", std::to_string(number + 1));
  }
  const GpuLaunch& l = *s.launch;
  const int64_t per_block = l.unit == GpuLaunch::Unit::Row ? l.rows : l.threads;
  text += fmt::format("const int64_t count = {};\n", index(s.outer_count));
  text += fmt::format("void* arguments[] = {{{}}};\n", fmt::join(arguments, ", "));
  text += fmt::format(
      "const AotcLaunch launch = {{{}, {{grid_size(count, {}), 1, 1}}, {{{}, {}, 1}}, 0, "
      "arguments}};\n",
      sources.number_of(s.function), per_block, l.threads, l.rows);
  return text + "if (count > 0 && frame->launch(frame, &launch)) return 1;\n}\n";
}

}  // namespace aotc
