// The .npy format: a magic string, a version, a Python dictionary literal in text, the elements.
#include "ir/npy.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "ir/error.h"

namespace aotc {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are kept little-endian");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kHeaderAlignment = 64;
constexpr size_t kMaxRank = 64;

struct TypeCode {
  DType dtype;
  const char* code;  // numpy's kind letter and size
};

constexpr TypeCode kTypeCodes[] = {
    {DType::Bool, "b1"},      {DType::UInt8, "u1"},      {DType::Int8, "i1"},
    {DType::Int16, "i2"},     {DType::Int32, "i4"},      {DType::Int64, "i8"},
    {DType::UInt16, "u2"},    {DType::UInt32, "u4"},     {DType::UInt64, "u8"},
    {DType::Float16, "f2"},   {DType::Float32, "f4"},    {DType::Float64, "f8"},
    {DType::Complex64, "c8"}, {DType::Complex128, "c16"}};

struct Header {
  DType dtype = DType::Float32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Parses the dictionary literal, e.g. {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key(quoted());
      expect(':');
      parse_entry(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr_ || !has_order_ || !has_shape_)
      fail("'descr', 'fortran_order' and 'shape' expected");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    user_error("{}: the .npy header is malformed at byte {}: {}; save the array again with numpy",
               where_, position_, what);
  }

  void skip_spaces() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }

  bool accept(char c) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' expected", c));
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string_view quoted() {
    skip_spaces();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') fail("a quoted string expected");
    const size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) fail("a closing quote expected");
    const std::string_view inside = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return inside;
  }

  void parse_entry(const std::string& key) {
    if (key == "descr") {
      parse_descr();
      has_descr_ = true;
    } else if (key == "fortran_order") {
      header_.fortran_order = accept_word("True");
      if (!header_.fortran_order && !accept_word("False")) fail("True or False expected");
      has_order_ = true;
    } else if (key == "shape") {
      parse_shape();
      has_shape_ = true;
    } else {
      fail("only 'descr', 'fortran_order' and 'shape' expected");
    }
  }

  void parse_descr() {
    if (accept('[')) {
      user_error("{}: the .npy file holds records (a structured type); a plain array is expected",
                 where_);
    }
    const std::string_view descr = quoted();
    const char order = descr.empty() ? '\0' : descr[0];
    const bool has_order = order != '\0' && std::strchr("<>|=", order) != nullptr;
    const std::string_view code = has_order ? descr.substr(1) : descr;
    header_.big_endian = order == '>';
    for (const TypeCode& row : kTypeCodes) {
      if (code != row.code) continue;
      header_.dtype = row.dtype;
      return;
    }
    user_error(
        "{}: the .npy file's element type '{}' is not one that a tensor has; expected bool, an "
        "integer, float16 to float64, complex64 or complex128 (bfloat16 is kept as uint16 bits in "
        "a *.bf16.npy file)",
        where_, descr.substr(0, 40));
  }

  void parse_shape() {
    expect('(');
    while (!accept(')')) {
      header_.shape.push_back(parse_size());
      if (header_.shape.size() > kMaxRank) fail(fmt::format("at most {} dimensions", kMaxRank));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  int64_t parse_size() {
    skip_spaces();
    int64_t value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) fail("a size from 0 to 2^63-1 expected");
    position_ += static_cast<size_t>(end - begin);
    accept('L');  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  size_t position_ = 0;
  Header header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

// Bytes of an array; throws where they do not fit a signed 64-bit number.
size_t byte_count(DType dtype, const std::vector<int64_t>& shape, const std::string& where) {
  int64_t bytes = element_size(dtype);
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (const int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size == 0 ? 1 : size, &bytes))
      user_error("{}: the array's shape ({}) is too large", where, fmt::join(shape, ", "));
  }
  return empty ? 0 : static_cast<size_t>(bytes);
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Splits the file into header text and element bytes.
std::pair<std::string_view, std::string_view> split(std::string_view bytes,
                                                    const std::string& where) {
  if (bytes.substr(0, kMagic.size()) != kMagic)
    user_error("{}: not a .npy file (its first bytes are not \\x93NUMPY); save it with numpy.save",
               where);
  const std::string_view rest = bytes.substr(kMagic.size());
  const unsigned major = rest.size() < 2 ? 0 : static_cast<unsigned char>(rest[0]);
  if (rest.size() >= 2 && (major < 1 || major > 3))
    user_error("{}: .npy format version {}, expected 1, 2 or 3", where, major);
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (rest.size() < 2 + length_bytes) user_error("{}: the .npy file ends in its header", where);
  const uint64_t length = little_endian(rest.substr(2, length_bytes));
  const std::string_view body = rest.substr(2 + length_bytes);
  if (body.size() < length) user_error("{}: the .npy file ends in its header", where);
  return {body.substr(0, length), body.substr(length)};
}

void swap_bytes(std::string& data, DType dtype) {
  const auto whole = static_cast<size_t>(element_size(dtype));
  const size_t unit = is_complex(dtype) ? whole / 2 : whole;
  for (size_t i = 0; i + unit <= data.size(); i += unit)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i),
                 data.begin() + static_cast<ptrdiff_t>(i + unit));
}

// Reorders elements from first-index-fastest to last-index-fastest.
std::string from_fortran_order(std::string_view source, const NpyArray& array) {
  const auto element = static_cast<size_t>(element_size(array.dtype));
  const size_t rank = array.shape.size();
  std::vector<size_t> strides(rank), index(rank, 0);
  size_t stride = element;
  for (size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(array.shape[d]);
  }
  std::string result(source.size(), '\0');
  size_t from = 0;
  for (size_t to = 0; to < result.size(); to += element) {
    std::memcpy(&result[to], &source[from], element);
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < static_cast<size_t>(array.shape[d])) break;
      from -= strides[d] * index[d];
      index[d] = 0;
    }
  }
  return result;
}

// numpy takes every byte but 0 as true; here true is 1.
void normalize_bools(std::string& data) {
  for (char& c : data) c = c != 0 ? 1 : 0;
}

std::string header_text(const NpyArray& array) {
  const TypeCode* code =
      std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                   [&](const TypeCode& row) { return row.dtype == array.dtype; });
  if (code == std::end(kTypeCodes))
    user_error("numpy has no element type {}; write its bits as an integer array",
               name(array.dtype));
  const char order = element_size(array.dtype) == 1 ? '|' : '<';
  return fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                     code->code, fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& where) {
  const auto [header_bytes, body] = split(bytes, where);
  Header header = HeaderParser(header_bytes, where).parse();
  NpyArray array{header.dtype, std::move(header.shape), {}};
  const size_t expected = byte_count(array.dtype, array.shape, where);
  if (body.size() < expected)
    user_error("{}: truncated: shape ({}) of {} takes {} bytes, found {}", where,
               fmt::join(array.shape, ", "), name(array.dtype), expected, body.size());
  const std::string_view elements = body.substr(0, expected);
  array.data = header.fortran_order && array.shape.size() > 1 ? from_fortran_order(elements, array)
                                                              : std::string(elements);
  if (header.big_endian) swap_bytes(array.data, array.dtype);
  if (array.dtype == DType::Bool) normalize_bools(array.data);
  return array;
}

NpyArray read_npy(const std::string& path) {
  const auto close = [](std::FILE* f) { std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rb"), close);
  if (!file) user_error("{}: cannot be opened: {}", path, std::strerror(errno));
  std::string bytes;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) bytes.append(buffer, n);
  if (std::ferror(file.get())) user_error("{}: cannot be read: {}", path, std::strerror(errno));
  return parse_npy(bytes, path);
}

std::string format_npy(const NpyArray& array) {
  AOTC_CHECK(array.data.size() == byte_count(array.dtype, array.shape, "array"),
             "{} bytes for shape ({}) of {}", array.data.size(), fmt::join(array.shape, ", "),
             name(array.dtype));
  std::string text = header_text(array);
  const bool long_header = text.size() + kHeaderAlignment > 0xffff;
  const size_t prefix = kMagic.size() + 2 + (long_header ? 4 : 2);
  while ((prefix + text.size() + 1) % kHeaderAlignment != 0) text += ' ';
  text += '\n';
  std::string bytes(kMagic);
  bytes += long_header ? '\2' : '\1';
  bytes += '\0';
  for (size_t i = 0; i < (long_header ? 4U : 2U); ++i)
    bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return bytes + text + array.data;
}

void write_npy(const std::string& path, const NpyArray& array) {
  const std::string bytes = format_npy(array);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) user_error("{}: cannot be written: {}", path, std::strerror(errno));
}

}  // namespace aotc
