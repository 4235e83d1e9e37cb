// Opens libraries from memory files and reads the dynamic section of ELF files.
#include "tests/toolchain/support.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace aotc::test {
namespace {

template <typename T>
T at(const std::string& bytes, uint64_t offset) {
  T value;
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("ELF file is cut off");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// One section's contents as a table.
template <typename T>
std::vector<T> table(const std::string& bytes, const Elf64_Shdr& section) {
  std::vector<T> out;
  for (uint64_t i = 0; i + sizeof(T) <= section.sh_size; i += sizeof(T))
    out.push_back(at<T>(bytes, section.sh_offset + i));
  return out;
}

struct Sections {
  explicit Sections(const std::string& bytes) : bytes(bytes) {
    auto header = at<Elf64_Ehdr>(bytes, 0);
    for (int i = 0; i < header.e_shnum; ++i)
      all.push_back(at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
  }
  const Elf64_Shdr* find(uint32_t type) const {
    for (const Elf64_Shdr& section : all)
      if (section.sh_type == type) return &section;
    return nullptr;
  }
  std::string text(const Elf64_Shdr& user, uint64_t offset) const {
    return bytes.c_str() + all[user.sh_link].sh_offset + offset;
  }
  const std::string& bytes;
  std::vector<Elf64_Shdr> all;
};

// Version number -> "library VERSION" of what is needed, or "VERSION" of what is defined.
std::map<int, std::string> versions(const Sections& sections) {
  std::map<int, std::string> out;
  if (const Elf64_Shdr* need = sections.find(SHT_GNU_verneed)) {
    uint64_t offset = need->sh_offset;
    for (;;) {
      auto file = at<Elf64_Verneed>(sections.bytes, offset);
      uint64_t aux_offset = offset + file.vn_aux;
      for (int i = 0; i < file.vn_cnt; ++i) {
        auto aux = at<Elf64_Vernaux>(sections.bytes, aux_offset);
        out[aux.vna_other] =
            sections.text(*need, file.vn_file) + " " + sections.text(*need, aux.vna_name);
        aux_offset += aux.vna_next;
      }
      if (!file.vn_next) break;
      offset += file.vn_next;
    }
  }
  if (const Elf64_Shdr* definitions = sections.find(SHT_GNU_verdef)) {
    uint64_t offset = definitions->sh_offset;
    for (;;) {
      auto definition = at<Elf64_Verdef>(sections.bytes, offset);
      auto aux = at<Elf64_Verdaux>(sections.bytes, offset + definition.vd_aux);
      out[definition.vd_ndx] = sections.text(*definitions, aux.vda_name);
      if (!definition.vd_next) break;
      offset += definition.vd_next;
    }
  }
  return out;
}

void read_symbols(const Sections& sections, ElfFacts& facts) {
  const Elf64_Shdr* symbols = sections.find(SHT_DYNSYM);
  if (!symbols) return;
  std::map<int, std::string> names = versions(sections);
  std::vector<Elf64_Half> numbers;
  if (const Elf64_Shdr* section = sections.find(SHT_GNU_versym))
    numbers = table<Elf64_Half>(sections.bytes, *section);
  int i = -1;
  for (const Elf64_Sym& symbol : table<Elf64_Sym>(sections.bytes, *symbols)) {
    std::string name = sections.text(*symbols, symbol.st_name);
    int number = ++i < static_cast<int>(numbers.size()) ? numbers[i] & 0x7fff : 0;
    if (name.empty()) continue;
    if (symbol.st_shndx == SHN_UNDEF) {
      facts.imports[name] = names[number];
    } else {
      facts.exports.insert(name);
      if (number > 1) facts.defined_versions.insert(name + "@" + names[number]);
    }
  }
}

}  // namespace

Toolchain& clang() {
  static std::unique_ptr<Toolchain> toolchain = load_clang_toolchain();
  return *toolchain;
}

SourceFile kernel_source() {
  return {"kernels.cpp", R"(
typedef __INT64_TYPE__ int64_t;
#define EXPORT extern "C" __attribute__((visibility("default")))
// silu_1 (aten.silu), model.py:7
static float exp_(float x) {
  float n = __builtin_floorf(x * 1.44269504f + 0.5f);
  float r = x - n * 0.693147182f;
  float p = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666672f + r * (0.0416666679f + r * 0.00833333377f))));
  return p * __builtin_bit_cast(float, ((int)n + 127) << 23);
}
EXPORT float kernel(const float* x, float* y, int64_t n) {
  float total = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = x[i] / (1.0f + exp_(-x[i]));
    total += y[i];
  }
  return total;
}
)"};
}

Library::Library(const std::string& bytes) {
  int fd = memfd_create("library", MFD_CLOEXEC);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write a memory file");
  handle_ = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(fd);
  if (!handle_) throw std::runtime_error(dlerror());
}

Library::~Library() { dlclose(handle_); }

void* Library::find(const char* name) const {
  void* symbol = dlsym(handle_, name);
  if (!symbol) throw std::runtime_error(dlerror());
  return symbol;
}

ElfFacts read_elf(const std::string& bytes) {
  ElfFacts facts;
  auto header = at<Elf64_Ehdr>(bytes, 0);
  facts.machine = header.e_machine;
  facts.type = header.e_type;
  Sections sections(bytes);
  if (const Elf64_Shdr* dynamic = sections.find(SHT_DYNAMIC))
    for (const Elf64_Dyn& entry : table<Elf64_Dyn>(bytes, *dynamic)) {
      if (entry.d_tag == DT_NEEDED) facts.needed.insert(sections.text(*dynamic, entry.d_un.d_val));
      if (entry.d_tag == DT_SONAME) facts.soname = sections.text(*dynamic, entry.d_un.d_val);
    }
  read_symbols(sections, facts);
  return facts;
}

std::string build(Toolchain& toolchain, const SourceFile& source, const std::string& level,
                  const std::string& symbol) {
  CompileOptions compile;
  compile.cpu_level = level;
  LinkOptions link;
  link.cpu_level = level;
  link.export_list = symbol;
  return toolchain.link({toolchain.compile(source, compile)}, link);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace aotc::test
