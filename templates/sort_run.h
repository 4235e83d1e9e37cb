/* One sort from request to result: rows are shared between tasks, each sorts one after the other.
 */
#ifndef AOTC_TEMPLATES_SORT_RUN_H_
#define AOTC_TEMPLATES_SORT_RUN_H_

#include "sort_plan.h"

namespace aotc::sort {

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class U>
using Bits __attribute__((may_alias)) = U; /* elements of any type of this width */

/* Where a row starts, in elements. */
struct Row {
  Index x = 0, values = 0, indices = 0;
};

struct Rows {
  explicit Rows(const AotcSort& r, Index number) : request(r) {
    for (int d = AOTC_SORT_BATCH_DIMS; d-- > 0; number /= r.batch_sizes[d]) {
      place[d] = number % r.batch_sizes[d];
      move(d, place[d]);
    }
  }
  void next() {
    for (int d = AOTC_SORT_BATCH_DIMS; d-- > 0;) {
      move(d, 1);
      if (++place[d] < request.batch_sizes[d]) return;
      move(d, -place[d]);
      place[d] = 0;
    }
  }
  void move(int d, Index by) {
    row.x += by * request.x_batch[d];
    row.values += by * request.values_batch[d];
    row.indices += by * request.indices_batch[d];
  }
  const AotcSort& request;
  Row row;
  Index place[AOTC_SORT_BATCH_DIMS];
};

/* Sorts of rows whose elements are as wide as U, of one kind, with one type of items. */
template <class U, class Item, int kKind>
struct RowSorter {
  static constexpr int kKeyBytes = sizeof(U);
  const AotcSort& request;
  const Plan& plan;
  Order<U, kKind> order;

  RowSorter(const AotcSort& r, const Plan& p)
      : request(r), plan(p), order{U(r.infinity), r.descending ? U(~U(0)) : U(0), r.kind} {}

  U key(const Bits<U>* x, Index place) const { return order.key(x[place * request.x_step]); }

  void load(const Bits<U>* x, Item* items) const {
    const Index n = request.n;
    if (request.x_step == 1) {
      for (Index i = 0; i < n; i++) items[i] = Item::make(order.key(x[i]), i);
    } else {
      for (Index i = 0; i < n; i++) items[i] = Item::make(key(x, i), i);
    }
  }

  void store(const Bits<U>* x, const Item* items, const Row& row) const {
    const Index count = request.count;
    if (request.values) {
      Bits<U>* values = static_cast<Bits<U>*>(request.values) + row.values;
      for (Index j = 0; j < count; j++) {
        const U key = U(items[j].key());
        values[j * request.values_step] =
            order.invertible(key) ? order.bits(key) : x[items[j].place() * request.x_step];
      }
    }
    if (request.indices) {
      int64_t* indices = static_cast<int64_t*>(request.indices) + row.indices;
      for (Index j = 0; j < count; j++) indices[j * request.indices_step] = items[j].place();
    }
  }

  /* The first `count` items in order: those that come before the worst of the best so far are
   * collected until there are as many again. */
  Item* select(const Bits<U>* x, Item* items, Item* other) const {
    constexpr Index kBlock = 32;
    U keys[kBlock], worst = 0;
    bool full = false;
    Index held = 0;
    const Index n = request.n, step = request.x_step;
    for (Index start = 0; start < n; start += kBlock) {
      const Index length = min(kBlock, n - start);
      const Bits<U>* block = x + start * step;
      if (step == 1 && length == kBlock) {
        for (Index i = 0; i < kBlock; i++) keys[i] = order.key(block[i]);
      } else {
        for (Index i = 0; i < length; i++) keys[i] = order.key(block[i * step]);
        for (Index i = length; i < kBlock; i++) keys[i] = U(~U(0));
      }
      if (full) {
        U better = 0;
        for (Index i = 0; i < kBlock; i++) better |= U(keys[i] < worst);
        if (!better) continue;
      }
      for (Index i = 0; i < length; i++) {
        if (full && keys[i] >= worst) continue;
        items[held++] = Item::make(keys[i], start + i);
        if (held < plan.capacity) continue;
        keep_best(items, other, held);
        held = request.count;
        worst = U(items[held - 1].key());
        full = true;
      }
    }
    return merge_sort(items, other, held);
  }

  void keep_best(Item*& items, Item*& other, Index held) const {
    Item* sorted = merge_sort(items, other, held);
    if (sorted == items) return;
    other = items;
    items = sorted;
  }

  /* By the items, whose keys are those of the entries' first elements, then by the elements after
   * them. */
  struct ByEntry {
    const RowSorter& sorter;
    const Bits<U>* x;
    bool operator()(const Item& a, const Item& b) const {
      const AotcSort& r = sorter.request;
      if (a.key() != b.key()) return a.key() < b.key();
      const Bits<U>*p = x + a.place() * r.x_step, *q = x + b.place() * r.x_step;
      for (Index i = 1; i < r.width; i++) {
        const U left = sorter.order.key(p[i * r.x_within]);
        const U right = sorter.order.key(q[i * r.x_within]);
        if (left != right) return left < right;
      }
      return a.place() < b.place();
    }
  };

  Item* sort_entries(const Bits<U>* x, Item* items, Item* other) const {
    if constexpr (kSame<Item, Wide>) {
      if (request.width > 0) {
        load(x, items);
        return merge_sort(items, other, request.n, ByEntry{*this, x});
      }
      for (Index i = 0; i < request.n; i++) items[i] = Item::make(0, i);
    }
    return items;
  }

  void sort_row(const Row& row, Item* items, Item* other) const {
    const Bits<U>* x = static_cast<const Bits<U>*>(request.x) + row.x;
    if (plan.selects) {
      items = select(x, items, other);
    } else if (request.width != 1) {
      items = sort_entries(x, items, other);
    } else {
      load(x, items);
      items = sort_items<kKeyBytes>(items, other, request.n);
    }
    store(x, items, row);
  }

  /* Rows [begin, end) with the scratch of one task. */
  void sort_rows(Index begin, Index end, char* slot) const {
    Item* items = reinterpret_cast<Item*>(slot);
    Rows rows(request, begin);
    for (; begin < end; begin++, rows.next()) sort_row(rows.row, items, items + plan.capacity);
  }
};

inline Index row_count(const AotcSort& r) {
  Index rows = 1;
  for (Index size : r.batch_sizes) rows *= size;
  return rows;
}

template <class U, class Item, int kKind>
void run_tasks(void* arg, Index task, Index task_end) {
  const RowSorter<U, Item, kKind>& sorter = *static_cast<const RowSorter<U, Item, kKind>*>(arg);
  const Index rows = row_count(sorter.request), tasks = sorter.plan.tasks;
  const Index share = rows / tasks, more = rows % tasks; /* the first `more` tasks have one more */
  for (; task < task_end; task++) {
    const Index begin = task * share + min(task, more);
    const Index end = begin + share + (task < more ? 1 : 0);
    char* slot = static_cast<char*>(sorter.request.scratch) + task * sorter.plan.slot;
    sorter.sort_rows(begin, end, slot);
  }
}

template <class U, class Item, int kKind>
void run_kind(const AotcSort& request, const Plan& plan) {
  RowSorter<U, Item, kKind> sorter(request, plan);
  if (plan.tasks > 1 && request.parallel_for) {
    request.parallel_for(request.parallel_context, plan.tasks, 1, run_tasks<U, Item, kKind>,
                         &sorter);
  } else {
    run_tasks<U, Item, kKind>(&sorter, 0, plan.tasks);
  }
}

template <class U, class Item>
void run_items(const AotcSort& r, const Plan& plan) {
  if (r.kind == AOTC_SORT_FLOAT) return run_kind<U, Item, AOTC_SORT_FLOAT>(r, plan);
  if (r.kind == AOTC_SORT_SIGNED) return run_kind<U, Item, AOTC_SORT_SIGNED>(r, plan);
  run_kind<U, Item, AOTC_SORT_UNSIGNED>(r, plan);
}

template <class U>
void run(const AotcSort& r) {
  const Index rows = row_count(r);
  if (rows == 0 || r.n == 0 || r.count == 0) return;
  const Plan plan = make_plan(rows, r.n, r.count, r.width, sizeof(U) * 8, r.threads);
  if constexpr (sizeof(U) < 8) {
    if (plan.packed) return run_items<U, Packed>(r, plan);
  }
  if constexpr (sizeof(U) == 8) return run_items<U, Wide>(r, plan);
  run_kind<U, Wide, kAnyKind>(r, plan); /* entries, or more elements than other rows have */
}

}  // namespace aotc::sort
#endif /* AOTC_TEMPLATES_SORT_RUN_H_ */
