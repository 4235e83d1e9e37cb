#include "codegen/cuda/emit_matmul.h"

#include "codegen/cpp_text.h"
#include "codegen/emit.h"
#include "codegen/source_library.h"

namespace aotc {

using namespace loops;

namespace {

constexpr int64_t kFewRows = 8;  // MatmulFewRows::kMostRows

// {type, type of its sums, how numbers are converted}
struct MatmulTypes {
  std::string type, sum, number;
};

MatmulTypes matmul_types(DType t) {
  const std::string type = cpp_type(t);
  if (is_half(t)) return {type, "float", fmt::format("MatmulHalf<{}>", type)};
  const std::string sum = is_floating(t) ? type : element_size(t) == 8 ? "uint64_t" : "uint32_t";
  return {type, sum, fmt::format("MatmulNumber<{}, {}>", type, sum)};
}

std::string entry(const std::string& name, const char* algorithm, DType t,
                  const std::string& parameters, const std::string& result, bool checked) {
  if (name.empty()) return "";
  const MatmulTypes types = matmul_types(t);
  std::string text(cuda_matmul_entry_text());
  for (const auto& [hole, value] : std::vector<std::pair<std::string, std::string>>{
           {"@NAME@", name},
           {"@ALGORITHM@", algorithm},
           {"@TYPE@", types.type},
           {"@SUM@", types.sum},
           {"@NUMBER@", types.number},
           {"@FLOATING@", is_floating(t) ? "true" : "false"},
           {"@PARAMETERS@", parameters.empty() ? "" : ", " + parameters},
           {"@RETURN@", checked ? "if (failure->check != 0) return;\n  " : ""},
           {"@RESULT@", result}})
    replace_all(text, hole, value);
  return text;
}

}  // namespace

std::vector<std::string> MatmulKernels::names() const {
  std::vector<std::string> list;
  for (const std::string& n : {tiles, few_rows})
    if (!n.empty()) list.push_back(n);
  return list;
}

MatmulKernels matmul_kernels_for(const Matmul& m, const std::string& name) {
  const auto rows = m.m.constant(), columns = m.n.constant();
  const bool few = (rows && *rows <= kFewRows) || (columns && *columns <= kFewRows);
  const bool many = rows && columns && *rows > kFewRows && *columns > kFewRows;
  return {few ? "" : name, many ? "" : name + "_few_rows"};
}

std::string matmul_text(const MatmulKernels& kernels, DType dtype, const std::string& parameters,
                        const std::string& result, bool checked) {
  return entry(kernels.tiles, "MatmulTiles", dtype, parameters, result, checked) +
         entry(kernels.few_rows, "MatmulFewRows", dtype, parameters, result, checked);
}

}  // namespace aotc
