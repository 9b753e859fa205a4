// cpu/iterate.h and cpu/parallel.h: every element once, in few long rows, on any number of threads.
#include "cpu/iterate.h"

#include <atomic>
#include <numeric>

#include "check.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

class Threads {
 public:
  explicit Threads(int n) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

// An operand of int64 with room around it.
struct Values {
  std::vector<int64_t> memory, strides;
  int64_t at = 0;

  int64_t* data() { return memory.data() + at; }
};

int64_t numel(const std::vector<int64_t>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()); }

// Dimensions in the order given, the last innermost, each with a gap of so many elements at its end.
Values laid_out(const std::vector<int64_t>& sizes, const std::vector<size_t>& order, int64_t gap, int64_t first) {
  Values v;
  v.strides.resize(sizes.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    v.strides[order[i]] = step;
    step *= std::max<int64_t>(sizes[order[i]], 1);
    step += gap;
  }
  v.memory.resize(static_cast<size_t>(step + first) + 1);
  v.at = first;
  std::iota(v.memory.begin(), v.memory.end(), first);
  return v;
}

Values contiguous(const std::vector<int64_t>& sizes) {
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  return laid_out(sizes, order, 0, 0);
}

struct Seen { std::atomic<int64_t> rows{0}, elements{0}; };

// The first operand gets what the others sum up to, added to what it holds: a second visit shows.
template <int inputs> void add(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  auto& seen = *const_cast<Seen*>(static_cast<const Seen*>(params));
  ++seen.rows;
  seen.elements += n;
  for (int64_t i = 0; i < n; ++i) {
    int64_t sum = 0;
    for (int k = 1; k <= inputs; ++k) sum += *reinterpret_cast<const int64_t*>(data[k] + i * strides[k]);
    *reinterpret_cast<int64_t*>(data[0] + i * strides[0]) += sum;
  }
}

// Runs it and compares with index arithmetic. Returns the number of rows.
int64_t run(const std::vector<int64_t>& sizes, Values out, std::vector<Values> in, int cost = 4) {
  std::vector<int64_t> expected = out.memory;
  const int64_t n = numel(sizes);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> at(in.size() + 1);
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0;) {
      const int64_t index = rest % sizes[d];
      rest /= sizes[d];
      at[0] += index * out.strides[d];
      for (size_t k = 0; k < in.size(); ++k) at[k + 1] += index * in[k].strides[d];
    }
    for (size_t k = 0; k < in.size(); ++k) expected[static_cast<size_t>(out.at + at[0])] += in[k].data()[at[k + 1]];
  }
  Operands ops;
  ops.ndim = static_cast<int>(sizes.size());
  ops.sizes = sizes.data();
  ops.add(out.data(), out.strides.data(), sizeof(int64_t));
  for (Values& v : in) ops.add(v.data(), v.strides.data(), sizeof(int64_t));
  constexpr Loop loops[] = {add<0>, add<1>, add<2>, add<3>};
  Seen seen;
  iterate(ops, loops[in.size()], &seen, cost);
  CHECK(out.memory == expected);
  CHECK_EQUAL(seen.elements.load(), n);
  return seen.rows;
}

TEST(contiguous_operands_are_one_row) {
  const Threads one(1);
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{}, {5}, {2, 3}, {2, 1, 3, 1}, {4, 3, 2, 5}})
    CHECK_EQUAL(run(sizes, contiguous(sizes), {contiguous(sizes), contiguous(sizes)}), int64_t{1});
}

TEST(a_common_order_is_one_row) {
  const Threads one(1);
  const std::vector<int64_t> sizes = {3, 4, 5};
  for (const std::vector<size_t>& order : std::vector<std::vector<size_t>>{{2, 1, 0}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}})
    CHECK_EQUAL(run(sizes, laid_out(sizes, order, 0, 0), {laid_out(sizes, order, 0, 3)}), int64_t{1});
}

TEST(nothing_is_done_for_no_elements) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{0}, {3, 0}, {0, 4, 5}, {2, 0, 3}})
    CHECK_EQUAL(run(sizes, contiguous(sizes), {contiguous(sizes)}), int64_t{0});
}

TEST(one_element_for_all_is_one_row) {
  const Threads one(1);
  const std::vector<int64_t> sizes = {6, 7};
  Values single = contiguous({1});
  single.strides = {0, 0};
  CHECK_EQUAL(run(sizes, contiguous(sizes), {contiguous(sizes), single}), int64_t{1});
}

TEST(broadcast_rows_and_columns) {
  const Threads one(1);
  const std::vector<int64_t> sizes = {6, 70};
  Values row = contiguous({70}), column = contiguous({6});
  row.strides = {0, 1};
  column.strides = {1, 0};
  CHECK_EQUAL(run(sizes, contiguous(sizes), {row}), int64_t{6});
  CHECK_EQUAL(run(sizes, contiguous(sizes), {column}), int64_t{6});
  CHECK_EQUAL(run(sizes, contiguous(sizes), {row, column}), int64_t{6});
}

TEST(short_rows_are_swapped_for_long_ones) {
  const Threads one(1);
  const std::vector<int64_t> sizes = {5000, 2};
  Values column = contiguous({5000});
  column.strides = {1, 0};
  CHECK(run(sizes, contiguous(sizes), {column}) <= 2 * 5);  // not 5000
}

TEST(random_layouts_on_any_number_of_threads) {
  units::Numbers random(2);
  for (const int threads : {1, 2, 3, 8}) {
    const Threads some(threads);
    for (int program = 0; program < 150; ++program) {
      const auto ndim = static_cast<size_t>(random.between(1, 5));
      std::vector<int64_t> sizes;
      for (size_t d = 0; d < ndim; ++d) sizes.push_back(random.below(8) == 0 ? 1 : random.between(1, ndim < 3 ? 300 : 12));
      if (random.below(20) == 0) sizes[0] = 0;
      const auto layout = [&](bool is_out) {
        std::vector<size_t> order(ndim);
        std::iota(order.begin(), order.end(), size_t{0});
        for (size_t i = ndim; i > 1 && random.below(2); --i)
          std::swap(order[i - 1], order[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
        Values v = laid_out(sizes, order, random.below(3) == 0 ? 2 : 0, random.below(3));
        for (size_t d = 0; !is_out && d < ndim; ++d)
          if (random.below(4) == 0) v.strides[d] = 0;
        return v;
      };
      std::vector<Values> in;
      for (int64_t k = random.between(0, 3); k > 0; --k) in.push_back(layout(false));
      run(sizes, layout(true), in, random.below(2) ? 4 : 4000);  // dear elements go to threads by the dozen
    }
  }
}

TEST(sixty_four_dimensions) {
  std::vector<int64_t> sizes(kMaxDims, 1);
  for (const size_t d : {size_t{0}, size_t{31}, size_t{63}}) sizes[d] = 3;
  std::vector<size_t> backwards(sizes.size());
  std::iota(backwards.rbegin(), backwards.rend(), size_t{0});
  run(sizes, contiguous(sizes), {laid_out(sizes, backwards, 1, 0)});
}

// ---- parallel_for ----

TEST(ranges_cover_all_once) {
  for (const int threads : {1, 2, 5, 300}) {
    const Threads some(threads);
    for (const int64_t n : {0, 1, 2, 7, 29, 100, 1000, 100003})
      for (const int64_t grain : {1, 3, 100, 5000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        std::atomic<bool> short_range{false};
        parallel_for(10, 10 + n, grain, [&](int64_t from, int64_t to) {
          if (to - from < grain && to != 10 + n) short_range = true;
          for (int64_t i = from; i < to; ++i) ++visits[static_cast<size_t>(i - 10)];
        });
        CHECK(!short_range);
        for (const auto& v : visits) CHECK_EQUAL(v.load(), 1);
      }
  }
}

TEST(regions_inside_regions) {
  const Threads some(4);
  std::atomic<int64_t> sum{0};
  parallel_for(0, 64, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) parallel_for(0, 100, 1, [&](int64_t a, int64_t b) { sum += b - a; });
  });
  CHECK_EQUAL(sum.load(), int64_t{6400});
}

}  // namespace
}  // namespace retrograd::cpu
