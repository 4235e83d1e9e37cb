#include "codegen/cuda/emit_launch.h"

#include "codegen/cuda/emit_matmul.h"

namespace aotc {

using namespace loops;

void LaunchEmitter::Arguments::add(const std::string& type, const std::string& value) {
  text += fmt::format("{} a{} = {};\n", type, addresses.size(), value);
  addresses.push_back(fmt::format("(void*)&a{}", addresses.size()));
}

std::string LaunchEmitter::Arguments::array() const {
  return fmt::format("void* arguments[] = {{{}}};\n", fmt::join(addresses, ", "));
}

// What a kernel that is no template takes, but for the product whose elements it is handed.
void LaunchEmitter::add_parameters(Arguments& arguments, const ScheduledKernel& s) const {
  const KernelParameters params = parameters_of(p_, s);
  for (BufferId b : params.buffers)
    if (!s.product || b != s.product->c.buffer)
      arguments.add("void*", fmt::format("(void*){}", home_(b)));
  for (BufferId b : params.values) {
    const Buffer& buffer = p_.buffers[static_cast<size_t>(b)];
    const Sym bytes = buffer.offset * Sym(element_size(buffer.dtype));
    arguments.addresses.push_back(fmt::format("(void*)((char*){} + {})", home_(b), index_(bytes)));
  }
  for (const std::string& n : params.symbols) arguments.add("int64_t", n);
  if (!sources_.checks.empty()) arguments.add("void*", "frame->device_failure");
}

std::string LaunchEmitter::loops(const ScheduledKernel& s) const {
  Arguments arguments;
  add_parameters(arguments, s);
  if (s.kernel.kind == KernelKind::Check) {
    size_t number = 0;
    while (sources_.checks[number].first != s.kernel.message) ++number;
    arguments.add("int32_t", std::to_string(number + 1));
  }
  const GpuLaunch& l = *s.launch;
  const int64_t per_block = l.unit == GpuLaunch::Unit::Row ? l.rows : l.threads;
  return "{\n" + arguments.text +
         fmt::format("const int64_t count = {};\n", index_(s.outer_count)) + arguments.array() +
         fmt::format(
             "const AotcLaunch launch = {{{}, {{grid_size(count, {}), 1, 1}}, {{{}, {}, 1}}, 0, "
             "arguments}};\n",
             sources_.number_of(s.function), per_block, l.threads, l.rows) +
         "if (count > 0 && frame->launch(frame, &launch)) return 1;\n}\n";
}

std::string LaunchEmitter::product(const Matmul& m, const ScheduledKernel* consumer) const {
  std::string text = "{\nAotcGpuMatmul request = {};\n" + templates_.matmul(m, false);
  Arguments arguments;
  for (const MatmulOperand* o : {&m.a, &m.b, &m.d})
    arguments.add("const void*",
                  o->buffer < 0 ? "NULL" : templates_.pointer(o->buffer, o->offset, false));
  arguments.addresses.push_back("&request");
  if (consumer) {
    add_parameters(arguments, *consumer);
  } else {
    arguments.add("void*", templates_.pointer(m.c.buffer, m.c.offset, true));
    if (!sources_.checks.empty()) arguments.add("void*", "frame->device_failure");
  }
  text += arguments.text + arguments.array();
  const std::string name =
      consumer ? consumer->function : fmt::format("aotc_{}", matmul_template(m.dtype));
  const MatmulKernels kernels = matmul_kernels_for(m, name);
  const auto number = [&](const std::string& n) { return n.empty() ? -1 : sources_.number_of(n); };
  return text +
         fmt::format("if (launch_matmul(frame, &request, {}, {}, arguments)) return 1;\n}}\n",
                     number(kernels.tiles), number(kernels.few_rows));
}

}  // namespace aotc
