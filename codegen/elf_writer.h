// Lays out small ELF64 little-endian files: section contents in, file bytes out. Used for data
// objects and for the stub C libraries; it knows sections only, no segments.
#pragma once
#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aotc {

struct ElfSection {
  std::string name = {};
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
  std::string bytes = {};
  uint32_t link = 0, info = 0;  // section numbers: the first section of the list is number 1
  uint64_t align = 1, entry_size = 0;
};

// A string table under construction: offset 0 is the empty string.
class ElfStrings {
 public:
  // The offset of `text`, which is appended.
  uint32_t add(const std::string& text);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
};

// Appends the object representation of `value` to `out`.
template <typename T>
void append_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// EM_X86_64 or EM_AARCH64 for one of known_cpu_levels(); UserError for another name.
uint16_t elf_machine(const std::string& cpu_level);

// `type` is ET_REL or ET_DYN. The section name table is added at the end. In an ET_DYN file,
// allocated sections get the address that equals their file offset.
std::string write_elf(uint16_t type, uint16_t machine, const std::vector<ElfSection>& sections);

}  // namespace aotc
