// Arguments that eager torch refuses are user errors that name node, op and Python line, whatever
// the kind of row; and those next to them, which it takes, are taken.
#include <catch2/catch.hpp>
#include <cmath>

#include "ir/ops/arguments.h"
#include "ir/text/verify.h"

using namespace aotc;

namespace {

// A graph of one node.
struct Program {
  Graph graph;

  Value* tensor(DType dtype, std::vector<int64_t> sizes) {
    TensorType t = contiguous_type(dtype, Index(sizes.begin(), sizes.end()));
    Input in;
    in.value = graph.new_value("x" + std::to_string(graph.inputs.size()), t);
    in.name = in.value->name;
    graph.inputs.push_back(in);
    return in.value;
  }
  Arg f(std::vector<int64_t> sizes) { return tensor(DType::Float32, std::move(sizes)); }
  Arg i(std::vector<int64_t> sizes) { return tensor(DType::Int64, std::move(sizes)); }
  Arg b(std::vector<int64_t> sizes) { return tensor(DType::Bool, std::move(sizes)); }
  Arg list(std::vector<Arg> tensors) {
    Values v;
    for (const Arg& a : tensors) v.push_back(std::get<Value*>(a));
    return v;
  }

  // The error of the node; empty if there is none.
  std::string refusal(std::string_view op, std::vector<Arg> args) {
    const OpDef* row = find_op(op);
    REQUIRE(row != nullptr);
    for (size_t k = args.size(); k < row->schema.args.size(); ++k)
      args.push_back(row->schema.args[k].default_value);
    Node n;
    n.op = row;
    n.args = std::move(args);
    n.name = "n0";
    n.source.file = "model.py";
    n.source.line = 7;
    try {
      check_kinds(n);
      if (row->infer)
        row->infer(n);
      else
        infer_by_rewriting(graph, n);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }
};

Arg ints(std::vector<int64_t> v) { return Index(v.begin(), v.end()); }
Arg number(int64_t v) { return Sym(v); }

void refuses(std::string_view op, const std::function<std::vector<Arg>(Program&)>& args,
             const std::string& text) {
  Program p;
  std::string message = p.refusal(op, args(p));
  INFO(op << ": " << message);
  CHECK(message.starts_with("model.py:7: node 'n0'"));
  CHECK(message.find(text) != std::string::npos);
}

void takes(std::string_view op, const std::function<std::vector<Arg>(Program&)>& args) {
  Program p;
  INFO(op);
  CHECK(p.refusal(op, args(p)).empty());
}

using List = std::vector<Arg>;

}  // namespace

TEST_CASE("kinds of arguments") {
  refuses("aten.relu.default", [](Program&) { return List{None{}}; }, "'self' is None");
  refuses(
      "aten.softmax.int", [](Program& p) { return List{p.f({2}), std::string("x"), None{}}; },
      "'dim' is no int");
  refuses(
      "aten.sum.default", [](Program& p) { return List{p.f({2}), number(5)}; },
      "'dtype' is no ScalarType");
  refuses(
      "aten.max_pool2d.default", [](Program& p) { return List{p.f({1, 4, 4}), ints({2, 2, 2})}; },
      "'kernel_size' has 3 numbers, expected 2");
  refuses(
      "aten.stack.default", [](Program&) { return List{Values{}}; },
      "its list of tensors is empty");
}

TEST_CASE("matrix products") {
  refuses(
      "aten.mm.default", [](Program& p) { return List{p.f({2, 3}), p.f({4, 5})}; },
      "dimension 0 of 'mat2' is 4, expected 3");
  refuses(
      "aten.mm.default", [](Program& p) { return List{p.f({2, 3}), p.i({3, 5})}; },
      "'mat2' is int64");
  refuses(
      "aten.addmm.default", [](Program& p) { return List{p.f({4, 5}), p.f({2, 3}), p.f({3, 5})}; },
      "do not broadcast to [2, 5]");
  refuses(
      "aten.linear.default", [](Program& p) { return List{p.f({2, 3}), p.f({5, 4}), None{}}; },
      "'weight'");
  refuses(
      "aten.einsum.default",
      [](Program& p) {
        return List{std::string("ij,jk->iz"), p.list({p.f({2, 3}), p.f({3, 4})}), None{}};
      },
      "no operand has the output's 'z'");
  takes("aten.matmul.default", [](Program& p) { return List{p.f({5, 1, 2, 3}), p.f({4, 3, 2})}; });
}

TEST_CASE("views") {
  refuses(
      "aten.view.default", [](Program& p) { return List{p.f({2, 3}), ints({4})}; },
      "the sizes [4] do not hold the 6 elements");
  refuses(
      "aten.view.default", [](Program& p) { return List{p.f({2, 3}), ints({-1, -1})}; },
      "more than one -1");
  refuses(
      "aten.expand.default", [](Program& p) { return List{p.f({2, 3}), ints({3})}; },
      "'size' has 1 sizes");
  refuses(
      "aten.expand.default", [](Program& p) { return List{p.f({2, 3}), ints({5, 4, 3})}; },
      "do not broadcast");
  refuses(
      "aten.as_strided.default",
      [](Program& p) { return List{p.f({4}), ints({3}), ints({2}), None{}}; },
      "it reaches element 4 of a tensor of 4 elements");
  refuses(
      "aten.select.int", [](Program& p) { return List{p.f({4}), number(0), number(4)}; },
      "'index' is 4");
  refuses(
      "aten.permute.default", [](Program& p) { return List{p.f({4, 2}), ints({0, 0})}; },
      "dimension 0 twice");
  refuses(
      "aten.split_with_sizes.default", [](Program& p) { return List{p.f({4}), ints({1, 1})}; },
      "its sum should be 4");
  takes("aten.as_strided.default",
        [](Program& p) { return List{p.f({4}), ints({2}), ints({3}), None{}}; });
  auto scatter = [](std::vector<int64_t> sizes, std::vector<int64_t> strides) {
    return
        [=](Program& p) { return List{p.f({16}), p.f(sizes), ints(sizes), ints(strides), None{}}; };
  };
  refuses("aten.as_strided_scatter.default", scatter({2, 3}, {2, 1}), "share memory");
  refuses("aten.as_strided_scatter.default", scatter({2}, {0}), "share memory");
  refuses("aten.as_strided_scatter.default", scatter({4, 3}, {2, 3}), "share memory");
  takes("aten.as_strided_scatter.default", scatter({3, 2}, {2, 3}));  // interleaved
  takes("aten.as_strided_scatter.default", scatter({3, 2}, {1, 3}));
  takes("aten.as_strided_scatter.default", scatter({0, 2}, {0, 1}));
  takes("aten.as_strided_scatter.default", scatter({1, 2}, {0, 1}));
  takes("aten.select.int", [](Program& p) { return List{p.f({4}), number(0), number(-4)}; });
}

TEST_CASE("indices") {
  refuses(
      "aten.gather.default", [](Program& p) { return List{p.f({2, 3}), number(0), p.i({2, 4})}; },
      "larger than [2, 3] of 'self' in dimension 1");
  refuses(
      "aten.gather.default", [](Program& p) { return List{p.f({2, 3}), number(0), p.f({2, 3})}; },
      "'index' is float32");
  refuses(
      "aten.scatter.src", [](Program& p) { return List{p.f({4}), number(0), p.i({3}), p.f({2})}; },
      "of 'src'");
  refuses(
      "aten.index_add.default",
      [](Program& p) { return List{p.f({4, 2}), number(0), p.i({3}), p.f({2, 2})}; },
      "'source' has the sizes [2, 2], expected [3, 2]");
  refuses(
      "aten.index_copy.default",
      [](Program& p) { return List{p.f({4, 2}), number(0), p.i({3}), p.i({3, 2})}; },
      "'source' is int64");
  refuses(
      "aten.index_put.default",
      [](Program& p) { return List{p.f({4, 2}), p.list({p.i({3})}), p.f({2, 2}), false}; },
      "do not broadcast to [3, 2]");
  refuses(
      "aten._unsafe_masked_index_put_accumulate.default",
      [](Program& p) { return List{p.f({5, 5}), p.b({2}), p.list({p.i({3})}), p.f({3, 5})}; },
      "do not broadcast");
  refuses(
      "aten.embedding.default", [](Program& p) { return List{p.f({4, 2}), p.f({3})}; },
      "'indices' is float32");
  takes("aten.scatter.src",
        [](Program& p) { return List{p.f({4}), number(0), p.i({2}), p.f({3})}; });
  takes("aten.index_put.default",
        [](Program& p) { return List{p.f({4, 2}), p.list({p.i({3})}), p.f({}), false}; });
}

TEST_CASE("lists, windows, images") {
  refuses(
      "aten.cat.default",
      [](Program& p) { return List{p.list({p.f({2, 3}), p.f({2, 4})}), number(0)}; },
      "cannot be joined along dimension 0");
  refuses(
      "aten.max_pool2d.default",
      [](Program& p) { return List{p.f({1, 4, 4}), ints({2, 2}), ints({}), ints({2, 2})}; },
      "at most half of the window");
  refuses(
      "aten.avg_pool1d.default", [](Program& p) { return List{p.f({1, 4}), ints({5})}; },
      "does not fit into 4");
  refuses(
      "aten.conv2d.default", [](Program& p) { return List{p.f({1, 3, 8, 8}), p.f({4, 2, 3, 3})}; },
      "'input' has 3 channels");
  refuses(
      "aten.conv1d.default",
      [](Program& p) { return List{p.f({1, 2, 8}), p.f({4, 2, 3}), p.f({3})}; },
      "'bias' has the sizes [3], expected [4]");
  refuses(
      "aten.conv_transpose1d.default",
      [](Program& p) {
        return List{p.f({1, 2, 8}), p.f({2, 4, 3}), None{}, ints({2}), ints({0}), ints({2})};
      },
      "'output_padding' is 2");
  refuses(
      "aten.reflection_pad1d.default", [](Program& p) { return List{p.f({1, 3}), ints({3, 0})}; },
      "a padding of 3");
  refuses(
      "aten.upsample_bilinear2d.vec",
      [](Program& p) { return List{p.i({1, 1, 2, 2}), ints({4, 4}), false, None{}}; },
      "'input' is int64");
  takes("aten.cat.default",
        [](Program& p) { return List{p.list({p.f({0}), p.f({2, 4})}), number(0)}; });
  takes("aten.max_pool2d.default",
        [](Program& p) { return List{p.f({1, 4, 4}), ints({2, 2}), ints({}), ints({1, 1})}; });
}

TEST_CASE("normalisations and losses") {
  refuses(
      "aten.batch_norm.default",
      [](Program& p) {
        return List{p.f({2, 3, 4}), p.f({4}), None{}, p.f({3}), p.f({3}), false, 0.1, 1e-5, false};
      },
      "'weight' has the sizes [4], expected [3]");
  refuses(
      "aten.instance_norm.default",
      [](Program& p) {
        return List{p.f({2, 3, 4}), None{}, None{}, p.f({3}), None{}, true, 0.1, 1e-5, false};
      },
      "only one of 'running_mean' and 'running_var'");
  refuses(
      "aten.group_norm.default",
      [](Program& p) { return List{p.f({2, 3, 4}), number(2), None{}, None{}}; },
      "2 groups do not divide 3 channels");
  refuses(
      "aten.layer_norm.default",
      [](Program& p) { return List{p.f({2, 3}), ints({2}), None{}, None{}}; },
      "'normalized_shape' is [2]");
  refuses(
      "aten.nll_loss2d_forward.default",
      [](Program& p) {
        return List{p.f({4, 3, 2, 2}), p.i({4, 2, 1}), None{}, number(1), number(-100)};
      },
      "'target' has the sizes [4, 2, 1], expected [4, 2, 2]");
}

TEST_CASE("order, creation, numbers") {
  refuses(
      "aten.kthvalue.default", [](Program& p) { return List{p.f({0, 2}), number(1), number(0)}; },
      "has no elements");
  refuses("aten.topk.default", [](Program& p) { return List{p.f({3}), number(4)}; }, "'k' is 4");
  refuses(
      "aten.linspace.Tensor_Tensor",
      [](Program& p) { return List{p.f({2}), p.f({}), number(3), None{}, None{}, None{}, None{}}; },
      "'start' has 1 dimensions");
  refuses(
      "aten.zeros.default",
      [](Program&) { return List{ints({2, -1}), None{}, None{}, None{}, None{}}; },
      "'size' is [2, -1]");
  refuses(
      "aten.sum.dim_IntList",
      [](Program& p) { return List{p.f({2, 3}), ints({1, -1}), false, None{}}; },
      "dimension 1 twice");
  refuses(
      "aten.embedding_bag.default",
      [](Program& p) {
        return List{p.f({5, 3}), p.i({4, 1}), p.i({2}), false, number(0), false, None{}, false};
      },
      "'indices' has 2 dimensions");
}

TEST_CASE("in-place forms") {
  refuses(
      "aten.add_.Tensor", [](Program& p) { return List{p.f({3}), p.f({2, 3}), number(1)}; },
      "do not fit into the tensor of sizes [3]");
  refuses(
      "aten.div_.Tensor", [](Program& p) { return List{p.i({3}), p.i({3})}; },
      "its result is float32, which is not cast to the int64");
  refuses(
      "aten.copy_.default", [](Program& p) { return List{p.f({3}), p.f({2, 3})}; },
      "do not broadcast");
  CHECK(find_op("aten._native_batch_norm_legit_.default") == nullptr);
}

TEST_CASE("given outputs") {
  refuses(
      "aten.atan2.out", [](Program& p) { return List{p.f({3}), p.f({3}), p.f({0})}; },
      "resizing it is not supported");
  refuses(
      "aten.add.out", [](Program& p) { return List{p.f({3}), p.f({3}), number(1), p.i({3})}; },
      "to which a result of float32 is not cast");
  takes("aten.add.out", [](Program& p) { return List{p.i({3}), p.i({3}), number(1), p.f({3})}; });
}

TEST_CASE("gradients") {
  auto pool = [](std::vector<int64_t> gradient) {
    return [gradient](Program& p) {
      return List{
          p.f(gradient), p.f({1, 2, 5, 6}), ints({2, 2}), ints({}), ints({0, 0}), false, true,
          None{}};
    };
  };
  takes("aten.avg_pool2d_backward.default", pool({1, 2, 2, 3}));
  refuses("aten.avg_pool2d_backward.default", pool({1, 2, 3, 3}), "expected 2");
  refuses(
      "aten.embedding_dense_backward.default",
      [](Program& p) { return List{p.f({2, 3}), p.i({3}), number(4), number(-1), false}; },
      "'grad_output' has the sizes [2, 3]");
  refuses(
      "aten._adaptive_avg_pool2d_backward.default",
      [](Program& p) { return List{p.f({1, 3, 2, 2}), p.f({1, 2, 5, 6})}; }, "'self'");
}

TEST_CASE("resizing in place") {
  auto resized = [](std::vector<int64_t> sizes) {
    return [sizes](Program& p) { return List{p.f({2, 3}), ints(sizes)}; };
  };
  takes("aten.resize_.default", resized({2, 3}));
  takes("aten.resize_.default", resized({4}));
  refuses("aten.resize_.default", resized({7}), "for which it has no memory");
  auto turned = [](std::vector<int64_t> sizes) {
    return [sizes](Program& p) {
      Value* x = p.tensor(DType::Float32, {3, 2});
      x->type.strides = {Sym(1), Sym(3)};
      return List{x, ints(sizes)};
    };
  };
  refuses("aten.resize.default", turned({6}), "expected the row-major ones [2, 1]");
  takes("aten.resize.default", turned({3, 2}));
  takes("aten.resize_.default", turned({4}));
}

TEST_CASE("numbers that a type does not hold") {
  auto of = [](DType t, std::vector<Arg> numbers) {
    return [t, numbers](Program& p) {
      List args{p.tensor(t, {3})};
      args.insert(args.end(), numbers.begin(), numbers.end());
      return args;
    };
  };
  constexpr DType kByte = DType::UInt8, kSmall = DType::Int8;
  refuses("aten.full_like.default", of(kByte, {number(300)}), "'fill_value' is 300, which uint8");
  refuses("aten.full_like.default", of(kByte, {-1.0}), "'fill_value' is -1, which uint8");
  refuses("aten.fill_.Scalar", of(kSmall, {128.0}), "'value' is 128, which int8");
  refuses("aten.fill.Scalar", of(DType::Int64, {std::nan("")}), "'value' is nan, which int64");
  refuses("aten.pow.Tensor_Scalar", of(kSmall, {number(300)}), "'exponent' is 300");
  refuses("aten.threshold.default", of(kSmall, {number(300), number(1)}), "'threshold' is 300");
  refuses("aten.clamp.default", of(kByte, {number(256), None{}}), "'min' is 256, above all");
  refuses("aten.clamp_.default", of(kByte, {None{}, number(-1)}), "'max' is -1, below all");
  refuses("aten.clamp_min.default", of(kSmall, {number(128)}), "'min' is 128, above all");
  refuses("aten.clamp_max.default", of(kSmall, {number(-129)}), "'max' is -129, below all");
  takes("aten.full_like.default", of(kByte, {number(-255)}));
  takes("aten.full_like.default", of(DType::Bool, {number(300)}));
  takes("aten.fill.Scalar", of(kSmall, {-128.0}));
  takes("aten.clamp.default", of(kByte, {number(-5), number(300)}));
  takes("aten.clamp.default", of(kByte, {number(-5), 300.5}));
  takes("aten.add.Scalar", of(kSmall, {number(300)}));
}

TEST_CASE("steps of ranges") {
  auto from_to = [](int64_t a, int64_t b, int64_t step) {
    return [=](Program&) { return List{number(a), number(b), number(step)}; };
  };
  refuses("aten.arange.start_step", from_to(0, 5, -1), "a step of -1 does not lead from 0 to 5");
  takes("aten.arange.start_step", from_to(5, 0, -2));
  takes("aten.arange.start_step", from_to(3, 3, -2));
}

TEST_CASE("derivatives of gated units") {
  auto jvp = [](std::vector<int64_t> glu, std::vector<int64_t> x, std::vector<int64_t> dx) {
    return [=](Program& p) { return List{p.f(glu), p.f(x), p.f(dx), number(-1)}; };
  };
  takes("aten.glu_jvp.default", jvp({2, 3}, {2, 6}, {2, 6}));
  refuses("aten.glu_jvp.default", jvp({2, 6}, {2, 6}, {2, 6}), "'glu' has the sizes [2, 6]");
  refuses("aten.glu_jvp.default", jvp({2, 3}, {2, 6}, {1, 6}), "'dx' has the sizes [1, 6]");
  refuses("aten.glu_jvp.default", jvp({2, 3}, {2, 7}, {2, 7}), "expected an even number");
}

TEST_CASE("a refused node of a program is one user error") {
  Program p;
  Value *x = p.tensor(DType::Float32, {2, 3}), *y = p.tensor(DType::Float32, {2, 4});
  Source source;
  source.file = "model.py";
  source.line = 7;
  Graph& g = p.graph;
  Node* n = g.insert(g.nodes.end(), find_op("aten.cat.default"), {Values{x, y}, Sym(0)},
                     {contiguous_type(DType::Float32, {Sym(4), Sym(3)})}, "cat", source);
  g.outputs.push_back({OutputKind::Tensor, n->output(), {}, "cat"});
  CHECK_THROWS_AS(verify(g, GraphStage::Graph), UserError);
  CHECK_THROWS_AS(verify(g, GraphStage::Functional), InternalError);
}
