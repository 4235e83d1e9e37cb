// A cursor over IR text with the tokens that both parsers share. Every failure names file, line and
// column and shows the line. Text ends statements at line ends; '#' starts a comment, which may be
// a source.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/error.h"
#include "ir/graph.h"

namespace aotc::text {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Reader {
 public:
  Reader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  size_t position() const { return at_; }
  size_t mark();  // the position of the next token, for messages and rewind
  void rewind(size_t position) { at_ = position; }

  // Held while reading something that may contain its like: text that nests too deep is refused.
  class Nesting {
   public:
    explicit Nesting(Reader& r) : reader_(r) {
      if (++r.depth_ > kMaxDepth) r.fail("subgraphs nest too deep");
    }
    ~Nesting() { --reader_.depth_; }

   private:
    static constexpr int kMaxDepth = 50;
    Reader& reader_;
  };
  [[noreturn]] void fail(const std::string& message) const { fail_at(at_, message); }
  [[noreturn]] void fail_at(size_t position, const std::string& message) const;

  // Lines. next_line skips blank lines and comments on lines of their own; false at the end of the
  // text.
  bool next_line();
  bool at_line_end();    // nothing but blanks and a comment are left
  Source end_of_line();  // checks that; reads the comment, which is a source if it looks like one
  bool at_end() const { return at_ >= text_.size(); }

  // Tokens; blanks before them are skipped, line ends are not.
  char peek();
  bool accept(std::string_view token);  // punctuation
  void expect(std::string_view token);
  bool accept_word(std::string_view word);  // a whole word
  void expect_word(std::string_view word);
  std::string peek_word();
  std::string word(const char* what);    // letters, digits, '_', '.'
  std::string name(const char* what);    // a word or a quoted string
  std::string string(const char* what);  // quoted
  int64_t integer(const char* what);
  int index(const char* what);  // an integer from 0 on
  double number(const char* what);
  // An expression up to one of `stops` outside of brackets, or a quote, a comment, the line's end.
  Sym sym(std::string_view stops);
  // "a, b" up to `close`, which is consumed.
  std::vector<Sym> syms(char close);
  std::string raw_expression(std::string_view stops);
  DType dtype();
  Device device();    // after '@'
  TensorType type();  // dtype[sizes]{strides}@device; strides are filled in when left out
  bool strides_given() const { return strides_given_; }  // of the last type()

  // Calls f until `close` for a comma-separated list.
  template <typename F>
  void list(std::string_view close, F f) {
    if (accept(close)) return;
    do f();
    while (accept(","));
    expect(close);
  }

 private:
  void skip_blanks();
  std::string quoted_string();
  std::string_view line_at(size_t position) const;
  std::string_view text_;
  std::string file_;
  size_t at_ = 0;
  int depth_ = 0;
  bool strides_given_ = false;
};

}  // namespace aotc::text
