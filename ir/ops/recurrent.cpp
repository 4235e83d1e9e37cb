// Recurrent cells and layers. A layer multiplies its whole input by the input weights first, then
// takes one step per time index; the number of steps is part of the program.
#include "ir/ops/tensor_expr.h"

namespace aotc {
namespace {

enum class Kind : uint8_t { Lstm, Gru, Tanh, Relu };

struct Weights {
  TensorExpr input, hidden, input_bias, hidden_bias;
};

struct State {
  TensorExpr h, c;  // c: LSTM only
};

TensorExpr linear(TensorExpr x, TensorExpr weight, TensorExpr bias) {
  Arg b = bias ? Arg(bias.v) : Arg(None{});
  return x.apply("aten.linear.default", {weight.v, b});
}

// Parts of equal size along the last dimension.
std::vector<TensorExpr> gates(TensorExpr x, int64_t count) {
  Sym width = floordiv(x.size(-1), count);
  std::vector<TensorExpr> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(x.slice(-1, width * i, width * (i + 1)));
  return parts;
}

State lstm_step(TensorExpr from_input, const State& s, const Weights& w) {
  std::vector<TensorExpr> g = gates(from_input + linear(s.h, w.hidden, w.hidden_bias), 4);
  TensorExpr c = sigmoid(g[1]) * s.c + sigmoid(g[0]) * tanh(g[2]);
  return {sigmoid(g[3]) * tanh(c), c};
}

State gru_step(TensorExpr from_input, const State& s, const Weights& w) {
  std::vector<TensorExpr> i = gates(from_input, 3),
                          h = gates(linear(s.h, w.hidden, w.hidden_bias), 3);
  TensorExpr reset = sigmoid(i[0] + h[0]), update = sigmoid(i[1] + h[1]);
  TensorExpr candidate = tanh(i[2] + reset * h[2]);
  return {(s.h - candidate) * update + candidate, {}};
}

State step(Kind kind, TensorExpr from_input, const State& s, const Weights& w) {
  if (kind == Kind::Lstm) return lstm_step(from_input, s, w);
  if (kind == Kind::Gru) return gru_step(from_input, s, w);
  TensorExpr sum = from_input + linear(s.h, w.hidden, w.hidden_bias);
  return {kind == Kind::Tanh ? tanh(sum) : relu(sum), {}};
}

// ---- layers

struct Sequence {
  TensorExpr outputs;  // [time, batch, features]
  State last;
};

TensorExpr stacked(Rewriter& r, const std::vector<TensorExpr>& parts) {
  Values values(parts.begin(), parts.end());
  return {&r, r("aten.stack.default", {values, Sym(0)})};
}

TensorExpr joined(Rewriter& r, const std::vector<TensorExpr>& parts) {
  Values values(parts.begin(), parts.end());
  return {&r, r("aten.cat.default", {values, Sym(parts[0].rank() - 1)})};
}

Sequence run_direction(Rewriter& r, Kind kind, TensorExpr input, State s, const Weights& w,
                       bool backwards) {
  auto steps = input.size(0).constant();
  if (!steps)
    unsupported(r.node, "a recurrent layer over a dynamic number of steps",
                "export with a fixed sequence length");
  TensorExpr from_input = linear(input, w.input, w.input_bias);
  std::vector<TensorExpr> outputs(static_cast<size_t>(*steps));
  for (int64_t i = 0; i < *steps; ++i) {
    int64_t t = backwards ? *steps - 1 - i : i;
    s = step(kind, from_input.select(0, t), s, w);
    outputs[static_cast<size_t>(t)] = s.h;
  }
  return {stacked(r, outputs), s};
}

struct Layers {
  Kind kind;
  TensorExpr input, h, c;
  std::vector<TensorExpr> parameters;
  bool biases, bidirectional;
  int64_t count;
};

// Parameters come per layer and direction: w_ih, w_hh and, with biases, b_ih, b_hh.
Weights weights_of(const Layers& l, size_t at) {
  size_t stride = l.biases ? 4 : 2;
  const TensorExpr* p = &l.parameters.at(at * stride);
  if (!l.biases) return {p[0], p[1], {}, {}};
  return {p[0], p[1], p[2], p[3]};
}

struct Results {
  TensorExpr output, h, c;
};

Results run_layers(Rewriter& r, Layers l) {
  TensorExpr x = l.input;
  std::vector<TensorExpr> last_h, last_c;
  int64_t directions = l.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < l.count; ++layer) {
    std::vector<TensorExpr> outputs;
    for (int64_t d = 0; d < directions; ++d) {
      int64_t at = layer * directions + d;
      State s{l.h.select(0, at), l.c ? l.c.select(0, at) : TensorExpr{}};
      Sequence run = run_direction(r, l.kind, x, s, weights_of(l, static_cast<size_t>(at)), d == 1);
      outputs.push_back(run.outputs);
      last_h.push_back(run.last.h);
      if (l.c) last_c.push_back(run.last.c);
    }
    x = outputs.size() == 1 ? outputs[0] : joined(r, outputs);
  }
  return {x, stacked(r, last_h), l.c ? stacked(r, last_c) : TensorExpr{}};
}

// Time first; a sequence without a batch gets one for the time of the operation.
Values layer(Rewriter& r, Kind kind) {
  if (bool_arg(r.node, "train") && double_arg(r.node, "dropout") != 0)
    unsupported(r.node, "dropout between recurrent layers", "export the model in eval mode");
  Layers l{kind,
           in(r, "input"),
           {},
           {},
           {},
           bool_arg(r.node, "has_biases"),
           bool_arg(r.node, "bidirectional"),
           int_arg(r.node, "num_layers")};
  for (Value* v : std::get<Values>(arg(r.node, "params"))) l.parameters.push_back({&r, v});
  if (kind == Kind::Lstm) {
    const Values& states = std::get<Values>(arg(r.node, "hx"));
    l.h = {&r, states.at(0)};
    l.c = {&r, states.at(1)};
    size_t per_cell =
        l.parameters.size() / static_cast<size_t>(l.count * (l.bidirectional ? 2 : 1));
    if (per_cell == (l.biases ? 5U : 3U))
      unsupported(r.node, "an LSTM with projections", "use proj_size=0");
  } else {
    l.h = in(r, "hx");
  }
  bool batched = l.input.rank() == 3, batch_first = bool_arg(r.node, "batch_first") && batched;
  if (!batched) {
    l.input = l.input.unsqueeze(1);
    l.h = l.h.unsqueeze(1);
    if (l.c) l.c = l.c.unsqueeze(1);
  }
  if (batch_first) l.input = l.input.transpose(0, 1);
  Results out = run_layers(r, l);
  if (batch_first) out.output = out.output.transpose(0, 1);
  auto shaped = [&](TensorExpr x) { return batched ? x : x.squeeze(1); };
  Values values{shaped(out.output), shaped(out.h)};
  if (out.c) values.push_back(shaped(out.c));
  return values;
}

// ---- cells

Values cell(Rewriter& r, Kind kind) {
  Weights w{in(r, "w_ih"), in(r, "w_hh"), in(r, "b_ih"), in(r, "b_hh")};
  State s;
  if (kind == Kind::Lstm) {
    const Values& states = std::get<Values>(arg(r.node, "hx"));
    s = {{&r, states.at(0)}, {&r, states.at(1)}};
  } else {
    s.h = in(r, "hx");
  }
  State next = step(kind, linear(in(r, "input"), w.input, w.input_bias), s, w);
  Values values{next.h};
  if (next.c) values.push_back(next.c);
  return values;
}

OpDef layer_op(std::string_view schema, Kind kind) {
  return rewrite_op(schema, [kind](Rewriter& r) { return layer(r, kind); });
}
OpDef cell_op(std::string_view schema, Kind kind) {
  return rewrite_op(schema, [kind](Rewriter& r) { return cell(r, kind); });
}

}  // namespace

Rows recurrent_ops() {
  return {
      layer_op("aten.lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
               "(Tensor, Tensor, Tensor)",
               Kind::Lstm),
      layer_op("aten.gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
               "(Tensor, Tensor)",
               Kind::Gru),
      layer_op("aten.rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
               "(Tensor, Tensor)",
               Kind::Tanh),
      layer_op("aten.rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
               "(Tensor, Tensor)",
               Kind::Relu),
      cell_op("aten.lstm_cell.default(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? "
              "b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
              Kind::Lstm),
      cell_op("aten.gru_cell.default(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
              "b_ih=None, Tensor? b_hh=None) -> Tensor",
              Kind::Gru),
      cell_op("aten.rnn_tanh_cell.default(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
              "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
              Kind::Tanh),
      cell_op("aten.rnn_relu_cell.default(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
              "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
              Kind::Relu),
  };
}

}  // namespace aotc
