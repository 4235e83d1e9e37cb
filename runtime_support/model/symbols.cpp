// Symbols: the sizes and integers of a call give them values, in the order of the inputs.
#include <stdio.h>

#include "error.h"
#include "session.h"

namespace aotc::model {
namespace {

long long wide(int64_t n) { return n; }

// "input 'x' dimension 0", or "input 'n'" for a symbolic int; "2*s0 + 1".
struct Text {
  char text[256];
};

Text place_of(const Session* s, int32_t i, int32_t d) {
  const AotcInput& input = s->program->inputs[i];
  Text out;
  if (input.kind == AOTC_INPUT_SYMBOL)
    snprintf(out.text, sizeof out.text, "input '%.200s'", input.name);
  else
    snprintf(out.text, sizeof out.text, "input '%.200s' dimension %d", input.name, d);
  return out;
}

bool is_plain(const AotcDimension& dimension) {
  return dimension.factor == 1 && dimension.offset == 0;
}

Text expression_of(const Session* s, const AotcDimension& dimension) {
  const char* name = s->program->symbols[dimension.symbol].name;
  Text out;
  char factor[32] = "";
  if (dimension.factor == -1)
    factor[0] = '-';
  else if (dimension.factor != 1)
    snprintf(factor, sizeof factor, "%lld*", wide(dimension.factor));
  const int used = snprintf(out.text, sizeof out.text, "%s%.150s", factor, name);
  if (dimension.offset != 0)
    snprintf(out.text + used, sizeof out.text - static_cast<size_t>(used), " %c %llu",
             dimension.offset < 0 ? '-' : '+',
             dimension.offset < 0 ? 0ull - static_cast<unsigned long long>(dimension.offset)
                                  : static_cast<unsigned long long>(dimension.offset));
  return out;
}

// The symbol's value where the dimension is `size`; false if no integer fits.
bool solve(const AotcDimension& dimension, int64_t size, int64_t* symbol) {
  int64_t product = 0;
  if (!subtract(size, dimension.offset, &product)) return false;
  if (dimension.factor == -1) return multiply(product, -1, symbol);
  if (product % dimension.factor != 0) return false;
  *symbol = product / dimension.factor;
  return true;
}

AotcStatus no_solution(const Session* s, int32_t i, int32_t d, int64_t size) {
  const AotcDimension& dimension = s->program->inputs[i].dimensions[d];
  return fail(AOTC_INVALID_ARGUMENT, "%s is %lld, expected %s with an integer %s",
              place_of(s, i, d).text, wide(size), expression_of(s, dimension).text,
              s->program->symbols[dimension.symbol].name);
}

AotcStatus contradiction(const Session* s, int32_t i, int32_t d, int64_t size) {
  const AotcDimension& dimension = s->program->inputs[i].dimensions[d];
  const SymbolSource source = s->model->symbol_sources[dimension.symbol];
  const int64_t bound = s->frame.symbols[dimension.symbol];
  const char* name = s->program->symbols[dimension.symbol].name;
  const Text place = place_of(s, i, d), origin = place_of(s, source.input, source.dimension);
  if (is_plain(dimension))
    return fail(AOTC_INVALID_ARGUMENT, "%s is %lld, expected %lld (symbol %s, from %s)", place.text,
                wide(size), wide(bound), name, origin.text);
  return fail(AOTC_INVALID_ARGUMENT, "%s is %lld, expected %s (%s is %lld, from %s)", place.text,
              wide(size), expression_of(s, dimension).text, name, wide(bound), origin.text);
}

// A bound of the symbol as one of the size; unbounded stays unbounded.
int64_t limit_of(const AotcDimension& dimension, int64_t symbol) {
  int64_t size = 0;
  const bool bounded = symbol != INT64_MIN && symbol != INT64_MAX;
  if (bounded && size_of(dimension, symbol, &size)) return size;
  return (symbol > 0) == (dimension.factor > 0) ? INT64_MAX : INT64_MIN;
}

}  // namespace

bool size_of(const AotcDimension& dimension, int64_t symbol, int64_t* size) {
  return multiply(dimension.factor, symbol, size) && add(*size, dimension.offset, size);
}

SizeRange range_of(const AotcProgram* program, const AotcDimension& dimension) {
  const AotcSymbol& symbol = program->symbols[dimension.symbol];
  const int64_t first = limit_of(dimension, symbol.min), last = limit_of(dimension, symbol.max);
  return dimension.factor > 0 ? SizeRange{first, last} : SizeRange{last, first};
}

AotcStatus bind_size(Session* s, int32_t i, int32_t d, int64_t size) {
  const AotcDimension& dimension = s->program->inputs[i].dimensions[d];
  int64_t* bound = &s->frame.symbols[dimension.symbol];
  int64_t expected = 0;
  if (size_of(dimension, *bound, &expected) && size == expected) return AOTC_OK;
  const SymbolSource source = s->model->symbol_sources[dimension.symbol];
  if (source.input != i || source.dimension != d) return contradiction(s, i, d, size);
  s->prepared = false;
  return solve(dimension, size, bound) ? AOTC_OK : no_solution(s, i, d, size);
}

AotcStatus check_range(const Session* s, int32_t symbol) {
  const AotcSymbol& limits = s->program->symbols[symbol];
  const SymbolSource source = s->model->symbol_sources[symbol];
  const int64_t value = s->frame.symbols[symbol];
  if (source.input < 0 || (value >= limits.min && value <= limits.max)) return AOTC_OK;
  const AotcDimension& dimension = s->program->inputs[source.input].dimensions[source.dimension];
  const SizeRange range = range_of(s->program, dimension);
  int64_t size = 0;
  size_of(dimension, value, &size);
  char expected[64];
  if (range.min == INT64_MIN)
    snprintf(expected, sizeof expected, "at most %lld", wide(range.max));
  else if (range.max == INT64_MAX)
    snprintf(expected, sizeof expected, "at least %lld", wide(range.min));
  else
    snprintf(expected, sizeof expected, "%lld..%lld", wide(range.min), wide(range.max));
  return fail(AOTC_INVALID_ARGUMENT, "%s is %lld, expected %s (%s%s)",
              place_of(s, source.input, source.dimension).text, wide(size), expected,
              is_plain(dimension) ? "symbol " : "", expression_of(s, dimension).text);
}

}  // namespace aotc::model
