// .npy files: round trips, foreign byte and index orders, and files that are not what they claim.
#include <catch2/catch.hpp>
#include <cstring>

#include "ir/error.h"
#include "ir/npy.h"
#include "support.h"

using namespace aotc;

namespace {

std::string npy(const std::string& header, const std::string& data, char major = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += major;
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string error_of(const std::string& bytes) {
  try {
    parse_npy(bytes, "in0.npy");
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("arrays of every type and rank survive a round trip") {
  const std::vector<std::vector<int64_t>> shapes = {{},     {0},       {1},         {3},
                                                    {2, 3}, {2, 0, 4}, {1, 2, 3, 1}};
  for (const DType type :
       {DType::Bool, DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64,
        DType::UInt16, DType::UInt32, DType::UInt64, DType::Float16, DType::Float32, DType::Float64,
        DType::Complex64, DType::Complex128}) {
    for (const auto& shape : shapes) {
      NpyArray array{type, shape, {}};
      size_t bytes = static_cast<size_t>(element_size(type));
      for (const int64_t size : shape) bytes *= static_cast<size_t>(size);
      for (size_t i = 0; i < bytes; ++i)
        array.data += static_cast<char>(type == DType::Bool ? i % 2 : i * 37);
      const std::string file = format_npy(array);
      const NpyArray back = parse_npy(file, "x.npy");
      CHECK(back.dtype == type);
      CHECK(back.shape == shape);
      CHECK(back.data == array.data);
      CHECK((file.size() - bytes) % 64 == 0);
    }
  }
}

TEST_CASE("files are written and read") {
  const test::TempFile file("", ".npy");
  const NpyArray array{DType::Float32, {2}, bytes_of<float>({1.5F, -0.0F})};
  write_npy(file.path(), array);
  CHECK(read_npy(file.path()).data == array.data);
  CHECK_THROWS_AS(read_npy(file.path() + ".absent"), UserError);
  CHECK_THROWS_AS(write_npy("/no such folder/x.npy", array), UserError);
}

TEST_CASE("big-endian elements are turned, complex ones by halves") {
  CHECK(
      parse_npy(npy(header(">i4", "(2,)"), std::string("\0\0\1\2\xff\xff\xff\xfe", 8)), "x").data ==
      bytes_of<int32_t>({258, -2}));
  CHECK(parse_npy(npy(header(">c8", "()"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8)), "x").data ==
        bytes_of<float>({1.0F, -2.0F}));
  CHECK(parse_npy(npy(header("|u1", "(3,)"), "abc"), "x").data == "abc");
}

TEST_CASE("Fortran order becomes C order") {
  // [[0, 1, 2], [3, 4, 5]], column by column.
  const std::string columns = bytes_of<int16_t>({0, 3, 1, 4, 2, 5});
  const NpyArray matrix = parse_npy(npy(header("<i2", "(2, 3)", "True"), columns), "x");
  CHECK(matrix.data == bytes_of<int16_t>({0, 1, 2, 3, 4, 5}));
  const NpyArray vector = parse_npy(npy(header("<i2", "(6,)", "True"), columns), "x");
  CHECK(vector.data == columns);
  CHECK(parse_npy(npy(header("<i2", "(3, 0)", "True"), ""), "x").data.empty());
}

TEST_CASE("versions 2 and 3 and odd spellings of the header are read") {
  const std::string data = bytes_of<float>({7.0F});
  CHECK(parse_npy(npy(header("<f4", "(1,)"), data, 2), "x").data == data);
  CHECK(parse_npy(npy(header("<f4", "(1,)"), data, 3), "x").data == data);
  CHECK(parse_npy(npy("{\"shape\":(1L,),\"fortran_order\":False,\"descr\":\"=f4\"}", data), "x")
            .shape == std::vector<int64_t>{1});
  CHECK(parse_npy(npy(header("<f4", "(1,)"), data + "more"), "x").data == data);
}

TEST_CASE("a true bool is 1") {
  CHECK(parse_npy(npy(header("|b1", "(3,)"), std::string("\0\1\7", 3)), "x").data ==
        std::string("\0\1\1", 3));
}

TEST_CASE("a file that is no array of numbers is refused with a reason") {
  using Catch::Contains;
  CHECK_THAT(error_of(""), Contains("in0.npy") && Contains("not a .npy file"));
  CHECK_THAT(error_of("\x93NUMPY"), Contains("ends in its header"));
  CHECK_THAT(error_of(npy(header("<f4", "(1,)"), "abc", 4)), Contains("version 4"));
  CHECK_THAT(error_of(npy(header("<f4", "(2,)"), "1234")), Contains("takes 8 bytes, found 4"));
  CHECK_THAT(error_of(npy(header("|O", "(1,)"), "12345678")), Contains("'|O'"));
  CHECK_THAT(error_of(npy(header("<f16", "(1,)"), "1234567812345678")), Contains("'<f16'"));
  CHECK_THAT(error_of(npy(header("<U3", "(1,)"), "123456789012")), Contains("'<U3'"));
  CHECK_THAT(
      error_of(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
      Contains("records"));
  CHECK_THAT(error_of(npy(header("<f4", "(-1,)"), "1234")), Contains("malformed"));
  CHECK_THAT(error_of(npy(header("<f4", "(9223372036854775807, 2)"), "1234")),
             Contains("too large"));
  CHECK_THAT(error_of(npy(header("<f4", "(9223372036854775807, 9223372036854775807, 0)"), "")),
             Contains("too large"));
  CHECK_THAT(error_of(npy(header("<f4", "(99999999999999999999,)"), "1234")),
             Contains("malformed"));
  CHECK_THAT(error_of(npy("{'descr': '<f4'}", "1234")), Contains("malformed"));
  CHECK_THAT(error_of(npy("{'descr': '<f4", "1234")), Contains("malformed"));
  CHECK_THROWS_AS(format_npy({DType::BFloat16, {1}, "12"}), UserError);
}

TEST_CASE("no prefix of a file and no change of a byte of its header is more than an error") {
  const std::string good = npy(header("<f4", "(2, 1)"), "12345678");
  for (size_t n = 0; n < good.size(); ++n) CHECK(error_of(good.substr(0, n)) != "");
  for (size_t at = 0; at + 8 < good.size(); ++at) {
    for (const char c : {'\0', '\xff', '9', '(', '\'', ' '}) {
      std::string changed = good;
      changed[at] = c;
      CHECK_NOTHROW(error_of(changed));
    }
  }
}
