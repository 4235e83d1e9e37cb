// Layouts of test matrices and the threads that run test products.
#include "matmul_case.h"

#include <atomic>
#include <sstream>
#include <thread>

namespace {

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::kRow:
      return "row";
    case Layout::kCol:
      return "col";
    case Layout::kRowGap:
      return "row-gap";
    case Layout::kColGap:
      return "col-gap";
    case Layout::kBothGap:
      return "both-gap";
    case Layout::kZeroRow:
      return "zero-row";
    case Layout::kZeroCol:
      return "zero-col";
    case Layout::kReversed:
      return "reversed";
  }
  return "?";
}

void set_matrix_strides(View& view, Layout layout) {
  const int64_t rows = view.rows, cols = view.cols;
  switch (layout) {
    case Layout::kRow:
      view.row = cols, view.col = 1;
      break;
    case Layout::kCol:
      view.row = 1, view.col = rows;
      break;
    case Layout::kRowGap:
      view.row = cols + 3, view.col = 1;
      break;
    case Layout::kColGap:
      view.row = 1, view.col = rows + 5;
      break;
    case Layout::kBothGap:
      view.row = cols * 2 + 1, view.col = 2;
      break;
    case Layout::kZeroRow:
      view.row = 0, view.col = 1;
      break;
    case Layout::kZeroCol:
      view.row = 1, view.col = 0;
      break;
    case Layout::kReversed:
      view.row = -cols, view.col = -1;
      break;
  }
}

void extend(View& view, int64_t size, int64_t stride) {
  (stride < 0 ? view.lowest : view.highest) += (size - 1) * stride;
}

}  // namespace

View make_view(const Shape& shape, int64_t rows, int64_t cols, Layout layout, bool batch_zero) {
  View view;
  view.batch_sizes = shape.batch;
  view.rows = rows;
  view.cols = cols;
  view.batch.assign(shape.batch.size(), 0);
  set_matrix_strides(view, layout);
  bool empty = rows == 0 || cols == 0;
  for (int64_t size : shape.batch) empty = empty || size == 0;
  if (empty) return view;
  view.highest = 0;
  extend(view, rows, view.row);
  extend(view, cols, view.col);
  for (size_t i = shape.batch.size(); i-- > 0 && !batch_zero;) {
    view.batch[i] = view.highest - view.lowest + 1 + int64_t(i);
    extend(view, shape.batch[i], view.batch[i]);
  }
  return view;
}

int64_t offset_of(const View& view, int64_t item, int64_t row, int64_t col) {
  int64_t offset = row * view.row + col * view.col;
  for (size_t i = view.batch.size(); i-- > 0;) {
    offset += item % view.batch_sizes[i] * view.batch[i];
    item /= view.batch_sizes[i];
  }
  return offset;
}

std::string describe(const CaseOptions& options) {
  std::ostringstream text;
  text << "batch";
  for (int64_t size : options.shape.batch) text << ' ' << size;
  text << " m " << options.shape.m << " n " << options.shape.n << " k " << options.shape.k;
  text << " a " << layout_name(options.a) << (options.a_batch_zero ? "*" : "");
  text << " b " << layout_name(options.b) << (options.b_batch_zero ? "*" : "");
  text << " c " << layout_name(options.c);
  if (options.has_d) {
    text << " d " << (options.d_is_c ? "is c" : layout_name(options.d));
    text << (options.d_batch_zero ? "*" : "");
  }
  text << " alpha " << options.alpha << " beta " << options.beta << " threads " << options.threads;
  return text.str();
}

void test_parallel_for(void* context, int64_t n, int64_t,
                       void (*fn)(void* arg, int64_t begin, int64_t end), void* arg) {
  const int threads = *static_cast<int*>(context);
  std::atomic<int64_t> next{n};
  const auto work = [&] {
    for (int64_t i = --next; i >= 0; i = --next) fn(arg, i, i + 1);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; i++) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
}
