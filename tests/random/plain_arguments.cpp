// Numbers, lists and words, by type and name of the argument.
#include <algorithm>
#include <numeric>

#include "arguments.h"

namespace aotc::random_graphs {
namespace {

using Words = std::vector<std::string>;

bool one_of(const std::string& name, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(), [&](const char* s) { return name == s; });
}

class Plain {
 public:
  Plain(Pool& pool, const SchemaArg& a, const std::vector<Sym>& sizes)
      : pool_(pool), a_(a), sizes_(sizes), rank_(static_cast<int64_t>(sizes.size())) {}

  Arg draw() {
    const std::string& t = a_.type;
    if (a_.has_default && pool_.percent(40)) return a_.default_value;
    if (t.ends_with("?") && pool_.percent(40)) return None{};
    if (t.starts_with("ScalarType")) return pool_.dtype();
    if (t.starts_with("bool[")) return std::vector<bool>{pool_.chance(2)};
    if (t.starts_with("bool")) return boolean();
    if (t.starts_with("str")) return word();
    if (t.starts_with("float[")) return std::vector<double>{1.5, 2.0};
    if (t.starts_with("float")) return number();
    if (t.starts_with("Scalar[")) return std::vector<double>{0.5, 2.0};
    if (t.starts_with("Scalar")) return scalar();
    if (t.starts_with("int[") || t.starts_with("SymInt[")) return list();
    if (t.starts_with("int") || t.starts_with("SymInt")) return integer();
    return a_.has_default ? a_.default_value : Arg(None{});
  }

 private:
  int64_t dimension() {
    int64_t limit = std::max<int64_t>(rank_, 1);
    return pool_.integer(-limit, limit - 1);
  }

  Arg boolean() {
    bool randomizes = one_of(a_.name, {"train", "training"});
    return !randomizes && pool_.chance(2);
  }

  Arg word() {
    if (a_.name == "rounding_mode") return pool_.pick(Words{"floor", "trunc"});
    if (a_.name == "reduce")
      return pool_.pick(Words{"sum", "prod", "mean", "amax", "amin", "add", "multiply"});
    if (a_.name == "approximate") return pool_.pick(Words{"none", "tanh"});
    if (a_.name == "mode") return pool_.pick(Words{"constant", "reflect", "replicate", "circular"});
    if (a_.name == "padding") return pool_.pick(Words{"same", "valid"});
    if (a_.name == "ord") return pool_.pick(Words{"fro", "nuc"});
    if (a_.name == "indexing") return pool_.pick(Words{"ij", "xy"});
    if (a_.name == "side") return pool_.pick(Words{"left", "right"});
    if (a_.name == "interpolation")
      return pool_.pick(Words{"linear", "lower", "higher", "nearest", "midpoint"});
    if (a_.name == "equation")
      return pool_.pick(Words{"ij,jk->ik", "ij->ji", "ij,ij->i", "i,j->ij", "bij,bjk->bik"});
    return std::string("message");
  }

  Arg number() {
    if (one_of(a_.name, {"eps", "atol", "rtol"}))
      return pool_.pick(std::vector<double>{1e-5, 1e-3, 0.1});
    if (one_of(a_.name, {"p", "norm_type"}))
      return pool_.pick(std::vector<double>{0, 1, 2, 3, 0.5});
    if (one_of(a_.name, {"q", "momentum", "label_smoothing", "dropout", "dropout_p"}))
      return pool_.pick(std::vector<double>{0, 0.25, 0.5, 1});
    return pool_.pick(std::vector<double>{0.5, 1.0, 2.0, -1.5, 0.0});
  }

  Arg scalar() {
    switch (pool_.integer(0, 5)) {
      case 0:
        return pool_.pick(std::vector<double>{0.5, 1.0, 2.0, -1.5, 3.25});
      case 1:
        return pool_.chance(3) ? Arg(pool_.chance(2)) : Arg(Sym(0));
      default:
        return Sym(pool_.integer(-3, 4));
    }
  }

  Arg integer() {
    if (one_of(a_.name, {"dim", "dim0", "dim1", "dim2", "axis0", "axis1", "start_dim", "end_dim",
                         "dimension", "source", "destination"}))
      return Sym(dimension());
    if (one_of(a_.name, {"reduction"})) return Sym(pool_.integer(0, 2));
    if (one_of(a_.name, {"diagonal", "offset"})) return Sym(pool_.integer(-2, 2));
    if (one_of(a_.name, {"index", "start"})) return Sym(pool_.integer(-2, 2));
    if (one_of(a_.name,
               {"k", "step", "steps", "chunks", "sections", "split_size", "size", "n", "m"}))
      return Sym(pool_.integer(1, 4));
    if (one_of(a_.name, {"groups", "group", "num_groups", "num_layers"}))
      return Sym(pool_.pick(std::vector<int64_t>{1, 1, 1, 2, 3}));
    if (one_of(a_.name, {"ignore_index", "padding_idx"})) return Sym(pool_.integer(-1, 2));
    if (one_of(a_.name, {"decimals"})) return Sym(pool_.integer(-1, 2));
    return Sym(pool_.integer(0, 3));
  }

  std::vector<Sym> fill(size_t count, int64_t low, int64_t high) {
    std::vector<Sym> v;
    for (size_t i = 0; i < count; ++i) v.push_back(Sym(pool_.integer(low, high)));
    return v;
  }

  // Distinct dimensions in any order, some counted from the end.
  std::vector<Sym> dimensions(int64_t count) {
    std::vector<int64_t> all(static_cast<size_t>(rank_));
    std::iota(all.begin(), all.end(), int64_t{0});
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1],
                all[static_cast<size_t>(pool_.integer(0, static_cast<int64_t>(i) - 1))]);
    std::vector<Sym> out;
    for (int64_t i = 0; i < std::min(count, rank_); ++i)
      out.push_back(Sym(all[static_cast<size_t>(i)] - (pool_.chance(4) ? rank_ : 0)));
    return out;
  }

  size_t length() const {
    size_t open = a_.type.find('[');
    return std::isdigit(static_cast<unsigned char>(a_.type[open + 1]))
               ? static_cast<size_t>(std::stoi(a_.type.substr(open + 1)))
               : 0;
  }

  Arg list() {
    size_t n = length();
    if (one_of(a_.name, {"dim"}))
      return dimensions(pool_.integer(pool_.chance(6) ? 0 : 1, std::max<int64_t>(rank_, 1)));
    if (one_of(a_.name, {"dims", "physical_layout"}))
      return dimensions(pool_.chance(4) ? pool_.integer(1, std::max<int64_t>(rank_, 1)) : rank_);
    if (one_of(a_.name, {"source", "destination"})) return dimensions(std::min<int64_t>(2, rank_));
    if (one_of(a_.name, {"repeats"}))
      return fill(static_cast<size_t>(rank_ + (pool_.chance(4) ? 1 : 0)), 1, 2);
    if (one_of(a_.name, {"pad"}))
      return fill(2 * static_cast<size_t>(pool_.integer(1, std::max<int64_t>(rank_, 1))), 0, 2);
    if (one_of(a_.name, {"normalized_shape"}))
      return std::vector<Sym>(
          sizes_.end() - std::min<std::ptrdiff_t>(rank_, pool_.chance(4) ? 2 : 1), sizes_.end());
    if (one_of(a_.name, {"kernel_size"})) return fill(n, 1, 3);
    if (one_of(a_.name, {"padding"}))
      return fill(n ? n : static_cast<size_t>(std::max<int64_t>(rank_ - 2, 1)), 0, 1);
    if (one_of(a_.name, {"stride", "dilation", "output_size"}))
      return fill(n ? n : static_cast<size_t>(std::max<int64_t>(rank_ - 2, 1)), 1, 2);
    if (one_of(a_.name, {"output_padding"}))
      return fill(n ? n : static_cast<size_t>(std::max<int64_t>(rank_ - 2, 1)), 0, 0);
    if (one_of(a_.name, {"shifts"})) return fill(1, -2, 3);
    if (one_of(a_.name, {"size", "shape"})) return pool_.shape();
    if (n > 0) return fill(n, 1, 3);
    return fill(static_cast<size_t>(pool_.integer(1, 2)), 0, 3);
  }

  Pool& pool_;
  const SchemaArg& a_;
  const std::vector<Sym>& sizes_;
  const int64_t rank_;
};

}  // namespace

Arg draw_plain(Pool& pool, const SchemaArg& a, const std::vector<Sym>& sizes) {
  return Plain(pool, a, sizes).draw();
}

}  // namespace aotc::random_graphs
