// Writes ELF64 files: header, section contents in order, section name table, section headers.
#include "codegen/elf_writer.h"

#include <cstring>

#include "ir/error.h"

namespace aotc {
namespace {

void pad_to(std::string& out, uint64_t align) {
  if (align > 1) out.resize((out.size() + align - 1) / align * align, '\0');
}

Elf64_Ehdr file_header(uint16_t type, uint16_t machine, size_t sections, uint64_t header_offset) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_shoff = header_offset;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections);
  header.e_shstrndx = static_cast<Elf64_Half>(sections - 1);
  return header;
}

Elf64_Shdr section_header(const ElfSection& section, uint32_t name, uint64_t offset,
                          bool addressed) {
  Elf64_Shdr header = {};
  header.sh_name = name;
  header.sh_type = section.type;
  header.sh_flags = section.flags;
  header.sh_addr = addressed && (section.flags & SHF_ALLOC) ? offset : 0;
  header.sh_offset = offset;
  header.sh_size = section.bytes.size();
  header.sh_link = section.link;
  header.sh_info = section.info;
  header.sh_addralign = section.align;
  header.sh_entsize = section.entry_size;
  return header;
}

}  // namespace

uint32_t ElfStrings::add(const std::string& text) {
  uint32_t offset = static_cast<uint32_t>(bytes_.size());
  bytes_.append(text.c_str(), text.size() + 1);
  return offset;
}

uint16_t elf_machine(const std::string& cpu_level) {
  if (cpu_level == "aarch64") return EM_AARCH64;
  if (cpu_level.rfind("x86-64", 0) == 0) return EM_X86_64;
  user_error("unknown CPU level '{}': expected x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or aarch64",
             cpu_level);
}

std::string write_elf(uint16_t type, uint16_t machine, const std::vector<ElfSection>& sections) {
  ElfStrings names;
  std::string out(sizeof(Elf64_Ehdr), '\0');
  std::string headers(sizeof(Elf64_Shdr), '\0');  // section 0 is all zero
  auto place = [&](const ElfSection& section, uint32_t name) {
    pad_to(out, section.align);
    append_raw(headers, section_header(section, name, out.size(), type == ET_DYN));
    out += section.bytes;
  };
  for (const ElfSection& section : sections) place(section, names.add(section.name));
  uint32_t table_name = names.add(".shstrtab");
  place({.name = ".shstrtab", .type = SHT_STRTAB, .bytes = names.bytes()}, table_name);
  pad_to(out, alignof(Elf64_Shdr));
  Elf64_Ehdr header = file_header(type, machine, sections.size() + 2, out.size());
  std::memcpy(out.data(), &header, sizeof header);
  return out + headers;
}

}  // namespace aotc
