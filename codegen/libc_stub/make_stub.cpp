// Build-time tool: makes a stub shared library from the list of symbols. It has the real library's
// soname and versioned symbols and no code, so that a link without any sysroot records the right
// versions and NEEDED entries.
//   aotc_make_stub SYMBOLS.txt x86-64|aarch64 LIBRARY OUTPUT
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "codegen/elf_writer.h"
#include "ir/error.h"

namespace aotc {
namespace {

struct Symbol {
  std::string name, version;  // e.g. "memcpy", "GLIBC_2.14"
  bool object = false;
};

std::vector<Symbol> read_symbols(const std::string& path, const std::string& arch,
                                 const std::string& library) {
  std::ifstream file(path);
  if (!file) user_error("cannot read '{}'", path);
  std::vector<Symbol> symbols;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string from, name, x86, arm, kind;
    if (!(fields >> from >> name >> x86 >> arm))
      user_error("{}:{}: expected: library symbol x86-64-version aarch64-version [object]", path,
                 number);
    fields >> kind;
    const std::string& version = arch == "aarch64" ? arm : x86;
    if (from == library && version != "-")
      symbols.push_back({name, "GLIBC_" + version, kind == "object"});
  }
  if (symbols.empty()) user_error("{}: no symbol of '{}' for {}", path, library, arch);
  return symbols;
}

uint32_t sysv_hash(const std::string& name) {
  uint32_t hash = 0;
  for (unsigned char c : name) {
    hash = (hash << 4) + c;
    uint32_t high = hash & 0xf0000000u;
    if (high) hash ^= high >> 24;
    hash &= ~high;
  }
  return hash;
}

// Version definitions: number 1 is the library itself, 2 and up are `versions` in order.
std::string version_definitions(const std::vector<std::string>& versions,
                                const std::string& library, ElfStrings& strings) {
  std::string out;
  for (size_t i = 0; i <= versions.size(); ++i) {
    const std::string& name = i == 0 ? library : versions[i - 1];
    Elf64_Verdef definition = {};
    definition.vd_version = VER_DEF_CURRENT;
    definition.vd_flags = i == 0 ? VER_FLG_BASE : 0;
    definition.vd_ndx = static_cast<Elf64_Half>(i + 1);
    definition.vd_cnt = 1;
    definition.vd_hash = sysv_hash(name);
    definition.vd_aux = sizeof(Elf64_Verdef);
    definition.vd_next = i == versions.size() ? 0 : sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux);
    append_raw(out, definition);
    append_raw(out, Elf64_Verdaux{.vda_name = strings.add(name), .vda_next = 0});
  }
  return out;
}

Elf64_Sym dynamic_symbol(const Symbol& symbol, uint32_t name, uint16_t section) {
  Elf64_Sym out = {};
  out.st_name = name;
  out.st_info = ELF64_ST_INFO(STB_GLOBAL, symbol.object ? STT_OBJECT : STT_FUNC);
  out.st_shndx = section;
  out.st_size = symbol.object ? 8 : 0;
  return out;
}

std::string dynamic_section(uint32_t soname) {
  std::string out;
  for (auto [tag, value] : {std::pair<Elf64_Sxword, uint64_t>{DT_SONAME, soname}, {DT_NULL, 0}}) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    append_raw(out, entry);
  }
  return out;
}

std::string make_stub(const std::vector<Symbol>& symbols, const std::string& library,
                      uint16_t machine) {
  std::vector<std::string> versions;
  for (const Symbol& symbol : symbols)
    if (std::find(versions.begin(), versions.end(), symbol.version) == versions.end())
      versions.push_back(symbol.version);
  ElfStrings strings;
  std::string table(sizeof(Elf64_Sym), '\0'), numbers(sizeof(Elf64_Half), '\0');
  for (const Symbol& symbol : symbols) {
    append_raw(table, dynamic_symbol(symbol, strings.add(symbol.name), /*section=*/6));
    auto at = std::find(versions.begin(), versions.end(), symbol.version) - versions.begin();
    append_raw(numbers, static_cast<Elf64_Half>(at + 2));
  }
  std::string definitions = version_definitions(versions, library, strings);
  std::string dynamic = dynamic_section(strings.add(library));
  // Section numbers used below: .dynsym 1, .dynstr 2, .text 6.
  return write_elf(
      ET_DYN, machine,
      {{.name = ".dynsym",
        .type = SHT_DYNSYM,
        .flags = SHF_ALLOC,
        .bytes = table,
        .link = 2,
        .info = 1,
        .align = 8,
        .entry_size = sizeof(Elf64_Sym)},
       {.name = ".dynstr", .type = SHT_STRTAB, .flags = SHF_ALLOC, .bytes = strings.bytes()},
       {.name = ".gnu.version",
        .type = SHT_GNU_versym,
        .flags = SHF_ALLOC,
        .bytes = numbers,
        .link = 1,
        .align = 2,
        .entry_size = 2},
       {.name = ".gnu.version_d",
        .type = SHT_GNU_verdef,
        .flags = SHF_ALLOC,
        .bytes = definitions,
        .link = 2,
        .info = static_cast<uint32_t>(versions.size() + 1),
        .align = 4},
       {.name = ".dynamic",
        .type = SHT_DYNAMIC,
        .flags = SHF_ALLOC | SHF_WRITE,
        .bytes = dynamic,
        .link = 2,
        .align = 8,
        .entry_size = sizeof(Elf64_Dyn)},
       {.name = ".text",
        .flags = SHF_ALLOC | SHF_EXECINSTR,
        .bytes = std::string(16, '\0'),
        .align = 16}});
}

void run(const std::string& list, const std::string& arch, const std::string& library,
         const std::string& output) {
  std::string bytes = make_stub(read_symbols(list, arch, library), library, elf_machine(arch));
  std::ofstream file(output, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
    user_error("cannot write '{}'", output);
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: aotc_make_stub SYMBOLS.txt x86-64|aarch64 LIBRARY OUTPUT\n";
    return 2;
  }
  try {
    aotc::run(argv[1], argv[2], argv[3], argv[4]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "aotc_make_stub: " << error.what() << "\n";
    return 1;
  }
}
