#include "codegen/cuda/emit_cuda.h"

#include <algorithm>

#include "codegen/cpp_text.h"
#include "codegen/cuda/cuda_body.h"
#include "codegen/cuda/emit_matmul.h"
#include "codegen/emit_template.h"
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
    if (s_.product) return product_text();
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
                    body_.axes_from(body_.outer_axes(), "position"), work);
    return out;
  }

 private:
  // The iterations happen where the elements of the product do.
  std::string product_text() {
    const BufferId product = s_.product->c.buffer;
    const std::string result = fmt::format("const Produced<{}> {}{{product}};\n", type_of(product),
                                           body_.pointer(product)) +
                               body_.axes_from(k_.axes, "position") + body_.phases();
    return matmul_text(matmul_kernels_for(*s_.product, name_), s_.product->dtype, parameter_list(),
                       result, checked_);
  }

  std::string parameter_list() const {
    const std::set<BufferId> written = buffers_written(k_);
    std::vector<std::string> list;
    for (BufferId b : params_.buffers) {
      if (s_.product && b == s_.product->c.buffer) continue;
      list.push_back(fmt::format("{}{}* {}", written.contains(b) ? "" : "const ", type_of(b),
                                 body_.pointer(b)));
    }
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

namespace {

// Products that are stored as they are share the kernels of their element type, of all sizes.
std::string add_products(const std::vector<ScheduledKernel>& kernels, bool checked,
                         std::vector<std::string>& names) {
  std::string text;
  std::set<DType> types;
  for (const ScheduledKernel& s : kernels) {
    if (!is_device_template(s) || s.in_group || !types.insert(s.kernel.matmul->dtype).second)
      continue;
    const DType t = s.kernel.matmul->dtype;
    Matmul any;
    any.m = Sym::symbol("m"), any.n = Sym::symbol("n");
    const MatmulKernels both = matmul_kernels_for(any, fmt::format("aotc_{}", matmul_template(t)));
    for (const std::string& n : both.names()) names.push_back(n);
    text += matmul_text(
        both, t, fmt::format("{}* c{}", cpp_type(t), checked ? ", DeviceFailure* failure" : ""),
        "c[position] = product;", checked);
  }
  return text;
}

}  // namespace

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
  std::string product;                          // of the group that the next kernel is in
  for (const ScheduledKernel& s : kernels) {
    if (s.launch) comments[s.function] += product + comment_for(s.kernel);
    product = s.in_group && s.kernel.matmul ? comment_for(s.kernel) : "";
  }
  std::string body;
  for (const ScheduledKernel& s : kernels) {
    if (is_device_check(s)) out.checks.emplace_back(s.kernel.message, s.kernel.report >= 0);
    if (!s.launch || s.function != s.kernel.name) continue;
    if (s.product)
      for (const std::string& n : matmul_kernels_for(*s.product, s.function).names())
        out.names.push_back(n);
    else
      out.names.push_back(s.function);
    body += cuda_text(plan.program, s, false, checked, comments[s.function]);
  }
  body += add_products(kernels, checked, out.names);
  if (std::ranges::any_of(kernels, is_device_template)) body.insert(0, cuda_matmul_text());
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

}  // namespace aotc
