// Reads level 2 text: the core graph, then buffers, kernels, write-backs and output buffers.
#include "ir/text/parse_graph.h"
#include "ir/text/parse_kernel.h"
#include "ir/text/text.h"

namespace aotc {
namespace text {

using namespace loops;

namespace {

class LoopsParser {
 public:
  LoopsParser(Reader& in, LoopProgram& p) : in_(in), p_(p) {}

  void parse() {
    in_.expect_word("loops");
    in_.expect("{");
    in_.end_of_line();
    for (;;) {
      if (!in_.next_line()) in_.fail("the program has no closing '}'");
      if (in_.accept("}")) break;
      statement();
    }
    in_.end_of_line();
  }

 private:
  void statement() {
    if (is_kernel_word(in_.peek_word())) {
      p_.kernels.push_back(parse_kernel(in_, names_));
    } else if (in_.accept_word("control")) {
      control();
    } else if (in_.accept_word("buffer")) {
      buffer();
    } else if (in_.accept_word("write")) {
      write_back();
    } else if (in_.accept_word("view")) {
      output_view();
    } else if (in_.accept_word("output")) {
      output();
    } else {
      in_.fail(
          "expected a statement: buffer, kernel, check, template, host, copy, control, write back, "
          "view, "
          "output or "
          "'}'");
    }
  }

  void control() {
    Kernel k;
    k.kind = KernelKind::Control;
    k.name = in_.name("a marker's name");
    in_.expect(":");
    size_t begin = in_.mark();
    const std::string word = in_.word("if, else, end_if, while, test, end_while, for or end_for");
    const auto c = control_named(word);
    if (!c) in_.fail_at(begin, fmt::format("'{}' is no control flow marker", word));
    k.control = *c;
    if (*c == Control::For) {
      k.symbol = in_.name("the counter");
      in_.expect("<");
    }
    if (*c == Control::For || *c == Control::If || *c == Control::Test) k.bound = in_.sym("");
    const Source source = in_.end_of_line();
    k.origins.push_back({"aotc." + word, k.name, source});
    p_.kernels.push_back(std::move(k));
  }

  void buffer() {
    size_t begin = in_.mark();
    Buffer b;
    b.name = in_.name("a buffer's name");
    if (!names_.emplace(b.name, static_cast<BufferId>(p_.buffers.size())).second)
      in_.fail_at(begin, fmt::format("buffer '{}' is defined twice", b.name));
    in_.expect(":");
    TensorType t = in_.type();
    b.dtype = t.dtype;
    b.sizes = std::move(t.sizes);
    b.strides = std::move(t.strides);
    b.device = t.device;
    in_.expect("=");
    home(b);
    if (in_.accept("+")) b.offset = in_.sym("");
    in_.end_of_line();
    p_.buffers.push_back(std::move(b));
  }

  void home(Buffer& b) {
    if (in_.accept_word("input"))
      b.home = Home::Input;
    else if (in_.accept_word("storage"))
      b.home = Home::Storage;
    else if (in_.accept_word("output"))
      b.home = Home::Output;
    else if (in_.accept_word("temp"))
      b.home = Home::Temp;
    else
      in_.fail("expected a home: input N, storage N, output N or temp");
    bool unnumbered = b.home == Home::Temp && (in_.at_line_end() || in_.peek() == '+');
    if (!unnumbered) b.index = in_.index("a number");
  }

  BufferId optional_buffer() {
    if (in_.accept_word("none")) return -1;
    return parse_buffer_name(in_, names_);
  }

  void write_back() {
    in_.expect_word("back");
    WriteBackInfo w;
    w.write_back = in_.index("a write-back's number");
    in_.expect(":");
    w.target = optional_buffer();
    in_.expect("=");
    w.value = optional_buffer();
    while (in_.accept(",")) {
      if (in_.accept_word("kernel"))
        w.kernel = in_.name("a kernel");
      else if (in_.accept_word("direct"))
        w.direct = true;
      else
        w.reason = in_.string("kernel, direct, or a reason");
    }
    in_.end_of_line();
    p_.write_backs.push_back(std::move(w));
  }

  std::vector<Sym> syms() {
    in_.expect("[");
    return in_.syms(']');
  }

  void output_view() {
    OutputView v;
    v.output = in_.index("an output's position");
    in_.expect_word("of");
    in_.expect_word("input");
    v.input = in_.index("an input's number");
    in_.expect_word("at");
    v.offset = in_.sym(",");
    while (in_.accept(",")) {
      if (in_.accept_word("strides")) {
        v.strides = syms();
      } else if (in_.accept_word("simple")) {
        v.simple = true;
      } else if (in_.accept_word("steps")) {
        v.steps = syms();
      } else {
        in_.expect_word("starts");
        v.starts = syms();
      }
    }
    in_.end_of_line();
    p_.output_views.push_back(std::move(v));
  }

  void output() {
    size_t begin = in_.mark();
    int64_t position = in_.integer("an output's position");
    if (position != static_cast<int64_t>(p_.output_buffers.size()))
      in_.fail_at(begin, fmt::format("expected output {}", p_.output_buffers.size()));
    in_.expect("=");
    p_.output_buffers.push_back(optional_buffer());
    in_.end_of_line();
  }

  Reader& in_;
  LoopProgram& p_;
  BufferNames names_;
};

}  // namespace
}  // namespace text

loops::LoopProgram parse_loops(std::string_view text, const std::string& file) {
  text::Reader in(text, file);
  loops::LoopProgram p;
  if (!in.next_line()) in.fail("the file is empty; expected a graph and loops");
  p.graph = text::parse_graph(in);
  in.end_of_line();
  if (!in.next_line()) in.fail("expected 'loops {' after the graph");
  text::LoopsParser(in, p).parse();
  if (in.next_line()) in.fail("unexpected text after the loops");
  return p;
}

}  // namespace aotc
