// Compile, link, load, call.
#include "compiled.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "codegen/package.h"

namespace aotc::random_graphs {
namespace {

DLDataType dlpack_type(DType t) {
  return {static_cast<uint8_t>(dlpack_code(t)), static_cast<uint8_t>(8 * element_size(t)), 1};
}

const AotcApi* load(const std::string& library) {
  int file = memfd_create("model", MFD_CLOEXEC);
  AOTC_CHECK(file >= 0 && write(file, library.data(), library.size()) ==
                              static_cast<ssize_t>(library.size()),
             "no memory file");
  // The file stays open: dlopen takes a name that it has seen for the same library.
  void* handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  AOTC_CHECK(handle, "the library cannot be loaded: {}", dlerror());
  auto get = reinterpret_cast<const AotcApi* (*)(uint32_t)>(dlsym(handle, "aotc_get_api"));
  AOTC_CHECK(get, "the library has no aotc_get_api");
  return get(AOTC_ABI_VERSION);
}

interp::Tensor from_dlpack(const Tensor& t, DType dtype) {
  interp::Tensor out = interp::empty(dtype, t.sizes());
  std::vector<int64_t> strides = t.strides();
  auto size = static_cast<size_t>(element_size(dtype));
  size_t i = 0;
  interp::for_each_index(out.sizes, [&](const std::vector<int64_t>& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    std::memcpy(out.memory->writable() + size * i++,
                static_cast<const char*>(t.raw()) + at * static_cast<int64_t>(size), size);
  });
  return out;
}

}  // namespace

Compiler::Compiler() : tools_(load_clang_toolchain()), level_(native_cpu_level()) {
  for (const std::string& name :
       {std::string("libaotc_model.a"), "libaotc_templates_" + level_ + ".a"})
    archives_.push_back((support_directory() / name).string());
}

// As stage `binary`, without formatting the sources.
const AotcApi* Compiler::build(Compilation& c) {
  c.settings.weights = "embed";
  make_sources(c);
  Sources& s = c.sources.at(0);
  CompileOptions options;
  options.cpu_level = level_;
  options.optimize = c.settings.optimize ? 2 : 0;
  std::vector<ObjectFile> objects{tools_->compile_checked(s.files[0], s.stores, options)};
  for (size_t i = 1; i < s.files.size(); ++i)
    objects.push_back(tools_->compile(s.files[i], options));
  if (!s.weights.empty())
    objects.push_back(make_data_object("aotc_weights", s.weights.str(), level_));
  LinkOptions link;
  link.cpu_level = level_;
  link.export_list = "aotc_get_api";
  link.archives = archives_;
  return load(tools_->link(objects, link));
}

CompiledProgram::CompiledProgram(const Graph& graph, const AotcApi* api)
    : graph_(graph), model_(Model::built_in(api)), session_(model_, "{\"threads\": 1}") {}

// Copies of the inputs, which share memory as the given ones do.
std::vector<Tensor> CompiledProgram::arguments(const interp::RunInputs& inputs,
                                               interp::RunResult& r) {
  std::map<const interp::Memory*, std::shared_ptr<interp::Memory>> copies;
  std::vector<Tensor> list;
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    interp::RunValue value = inputs.inputs[i];
    if (auto* t = std::get_if<interp::Tensor>(&value)) {
      auto& memory = copies[t->memory.get()];
      if (!memory) memory = std::make_shared<interp::Memory>(*t->memory);
      t->memory = memory;
      list.push_back(Tensor::borrow_raw(memory->writable() + t->offset * element_size(t->dtype),
                                        dlpack_type(t->dtype), t->sizes, t->strides));
    } else if (auto* n = std::get_if<int64_t>(&value)) {
      list.push_back(Tensor::zeros<int64_t>({}));
      *list.back().data<int64_t>() = *n;
    }
    r.inputs.push_back(value);
  }
  return list;
}

interp::RunValue CompiledProgram::output(size_t i, const Tensor& t) const {
  const Output& o = graph_.outputs[i];
  if (!t.defined()) return std::monostate{};
  if (o.kind == OutputKind::Tensor) return from_dlpack(t, o.value->type.dtype);
  if (std::holds_alternative<Sym>(o.scalar)) return t.item<int64_t>();
  if (std::holds_alternative<bool>(o.scalar)) return t.item<bool>();
  return t.item<double>();
}

void CompiledProgram::read_states(interp::RunResult& r) {
  for (const Input& in : graph_.inputs) {
    if (in.stored.storage < 0) continue;
    DType t = in.value->type.dtype;
    auto& memory = r.storages[in.stored.storage];
    std::string_view bytes = graph_.program->storages[static_cast<size_t>(in.stored.storage)].bytes;
    if (!memory) {
      auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      memory = std::make_shared<interp::Memory>(std::vector<std::byte>(data, data + bytes.size()));
    }
    const Tensor now = Tensor::zeros(dlpack_type(t), in.stored.sizes);
    session_.get_state(in.target, now);
    interp::Tensor view{t, in.stored.sizes, in.stored.strides, in.stored.offset, memory};
    r.stored_views[in.stored.storage].push_back(view);
    interp::assign(view, from_dlpack(now, t));
  }
}

interp::RunResult CompiledProgram::run(const interp::RunInputs& inputs) {
  interp::RunResult r;
  const std::vector<Tensor> list = arguments(inputs, r);
  try {
    if (around_call) around_call(true);
    std::vector<Tensor> outputs = session_.run(list);
    if (around_call) around_call(false);
    for (size_t i = 0; i < outputs.size(); ++i) r.outputs.push_back(output(i, outputs[i]));
  } catch (const std::exception& e) {
    if (around_call) around_call(false);
    r.failure = e.what();
  }
  read_states(r);
  return r;
}

}  // namespace aotc::random_graphs
