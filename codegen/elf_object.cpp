// Data objects: constant bytes (embedded weights) as a relocatable ELF object, written without a
// compiler.
#include <cctype>

#include "codegen/elf_writer.h"
#include "codegen/toolchain.h"
#include "ir/error.h"

namespace aotc {
namespace {

bool is_c_identifier(const std::string& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  for (unsigned char c : text)
    if (!std::isalnum(c) && c != '_') return false;
  return true;
}

// The symbol is hidden: code in the same shared library reaches it without a GOT entry, and no
// version script can export it by accident.
std::string symbol_table(uint32_t name, uint64_t size, uint16_t section) {
  Elf64_Sym symbol = {};
  symbol.st_name = name;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbol.st_other = STV_HIDDEN;
  symbol.st_shndx = section;
  symbol.st_size = size;
  std::string table(sizeof(Elf64_Sym), '\0');  // symbol 0 is all zero
  append_raw(table, symbol);
  return table;
}

}  // namespace

ObjectFile make_data_object(const std::string& symbol, const std::string& bytes,
                            const std::string& cpu_level) {
  AOTC_CHECK(is_c_identifier(symbol), "'{}' is no symbol name", symbol);
  ElfStrings strings;
  uint32_t name = strings.add(symbol);
  // The section carries the symbol's name, so that --gc-sections drops data that nothing refers to.
  std::vector<ElfSection> sections = {
      {.name = ".rodata." + symbol, .flags = SHF_ALLOC, .bytes = bytes, .align = 64},
      {.name = ".symtab",
       .type = SHT_SYMTAB,
       .bytes = symbol_table(name, bytes.size(), 1),
       .link = 3,
       .info = 1,  // the first global symbol
       .align = 8,
       .entry_size = sizeof(Elf64_Sym)},
      {.name = ".strtab", .type = SHT_STRTAB, .bytes = strings.bytes()},
      {.name = ".note.GNU-stack"}};
  return {symbol + ".o", write_elf(ET_REL, elf_machine(cpu_level), sections)};
}

}  // namespace aotc
