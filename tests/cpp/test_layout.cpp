// Sizes and strides: core/tensor.h, core/format.h.
#include <initializer_list>

#include "check.h"
#include "core/format.h"
#include "core/tensor.h"

namespace retrograd {
namespace {

using Ints = std::vector<int64_t>;

Tensor with(const Ints& sizes, const Ints& strides) { return empty_strided(sizes, strides, DType::Float32); }
Ints strides_of(const Tensor& t) { return {t.strides().begin(), t.strides().end()}; }

TEST(contiguous_strides) {
  CHECK(strides_of(empty(Ints{2, 3, 4}, DType::Float32)) == Ints({12, 4, 1}));
  CHECK(strides_of(empty(Ints{2, 0, 4}, DType::Float32)) == Ints({4, 4, 1}));  // a size of 0 counts as 1
  CHECK(strides_of(empty(Ints{}, DType::Float32)).empty());
  CHECK_EQUAL(empty(Ints{}, DType::Float32).numel(), int64_t{1});
  CHECK_EQUAL(empty(Ints{2, 0, 4}, DType::Float32).numel(), int64_t{0});
}

TEST(what_is_contiguous) {
  const auto contiguous = [](const Ints& sizes, const Ints& strides) { return geometry_is_contiguous(sizes, strides); };
  CHECK(contiguous({2, 3}, {3, 1}));
  CHECK(contiguous({2, 1, 3}, {3, 77, 1}));  // the stride of one element says nothing
  CHECK(contiguous({1}, {0}));
  CHECK(contiguous({5, 0}, {1, 9}));
  CHECK(contiguous({}, {}));
  CHECK(!contiguous({2, 3}, {1, 2}));
  CHECK(!contiguous({2, 3}, {4, 1}));
  CHECK(!contiguous({2, 3}, {0, 1}));
  CHECK_EQUAL(with({2, 1, 3}, {3, 77, 1}).is_contiguous(), true);
  CHECK_EQUAL(with({2, 3}, {4, 1}).is_contiguous(), false);
}

TEST(what_is_dense) {
  const auto dense = [](const Ints& sizes, const Ints& strides) { return dense_and_nonoverlapping(with(sizes, strides).get()); };
  CHECK(dense({2, 3, 4}, {12, 4, 1}));
  CHECK(dense({2, 3, 4}, {1, 2, 6}));
  CHECK(dense({2, 3, 4}, {4, 8, 1}));
  CHECK(dense({2, 1, 4}, {4, 99, 1}));
  CHECK(dense({0, 3}, {7, 7}));
  CHECK(!dense({2, 3}, {4, 1}));  // gaps
  CHECK(!dense({2, 3}, {0, 1}));  // expanded
  CHECK(!dense({3, 3}, {1, 1}));  // windows
}

TEST(what_overlaps_itself) {
  const auto overlaps = [](const Ints& sizes, const Ints& strides) { return has_internal_overlap(with(sizes, strides).get()); };
  CHECK(overlaps({2, 3}, {0, 1}));
  CHECK(!overlaps({1, 3}, {0, 1}));
  CHECK(!overlaps({0, 3}, {1, 0}));
  CHECK(!overlaps({2, 3}, {3, 1}));
}

TEST(more_dimensions_than_fit_inline) {
  for (size_t n = 0; n <= static_cast<size_t>(kMaxDims); ++n) {
    Ints sizes(n, 1), strides(n, 1);
    if (n > 0) sizes[n / 2] = 3;
    const Tensor t = with(sizes, strides);
    CHECK_EQUAL(t.dim(), static_cast<int64_t>(n));
    CHECK(strides_of(t) == strides && Ints(t.sizes().begin(), t.sizes().end()) == sizes);
    // Onto itself, from one form into the other and back: the spans point into the tensor.
    set_geometry(t.get(), t.sizes(), t.strides());
    CHECK(strides_of(t) == strides);
    set_geometry(t.get(), Ints(7, 1), Ints(7, 1));
    set_geometry(t.get(), Ints{3}, Ints{1});
    CHECK_EQUAL(t.numel(), int64_t{3});
    set_geometry(t.get(), sizes, strides);
    CHECK(strides_of(t) == strides);
  }
  CHECK_THROWS(with(Ints(65, 1), Ints(65, 1)), "a tensor has at most 64 dimensions, got 65");
}

TEST(sizes_that_cannot_be) {
  const int64_t big = int64_t{1} << 40;
  CHECK_THROWS(checked_numel(Ints{2, -1}), "Trying to create tensor with negative dimension -1: [2, -1]");
  CHECK_THROWS(checked_numel(Ints{big, big}), "Storage size calculation overflowed with sizes=");
  CHECK_EQUAL(checked_numel(Ints{big, big, 0}), int64_t{0});
  CHECK_THROWS(with({3, 3}, {-1, 1}), "as_strided: Negative strides are not supported");
  CHECK_THROWS(with({3, 3}, {int64_t{1} << 61, 1}), "Storage size calculation overflowed with sizes=");
}

TEST(formats_and_their_strides) {
  int64_t strides[5];
  format_strides(Ints{2, 3, 4, 5}, MemoryFormat::ChannelsLast, strides);
  CHECK(Ints(strides, strides + 4) == Ints({60, 1, 15, 3}));
  format_strides(Ints{2, 3, 4, 5, 6}, MemoryFormat::ChannelsLast3d, strides);
  CHECK(Ints(strides, strides + 5) == Ints({360, 1, 90, 18, 3}));
  format_strides(Ints{2, 3, 4, 5}, MemoryFormat::Preserve, strides);
  CHECK(Ints(strides, strides + 4) == Ints({60, 20, 5, 1}));
  CHECK_THROWS(format_strides(Ints{2, 3}, MemoryFormat::ChannelsLast, strides), "required rank 4 tensor to use channels_last format");
}

TEST(formats_are_recognised) {
  const Tensor last = empty_in(Ints{2, 3, 4, 5}, MemoryFormat::ChannelsLast, DType::Float32, {});
  CHECK(has_format(last.get(), MemoryFormat::ChannelsLast) && !has_format(last.get(), MemoryFormat::Contiguous));
  CHECK(apparent_format(last.get()) == MemoryFormat::ChannelsLast);
  CHECK(apparent_format(empty(Ints{2, 3, 4, 5}, DType::Float32).get()) == MemoryFormat::Contiguous);
  const Tensor one = empty(Ints{2, 1, 4, 5}, DType::Float32);  // could be either
  CHECK(has_format(one.get(), MemoryFormat::ChannelsLast) && apparent_format(one.get()) == MemoryFormat::Contiguous);
  CHECK(apparent_format(with({2, 3, 4, 5}, {120, 1, 30, 6}).get()) == MemoryFormat::ChannelsLast);  // with gaps
  CHECK(apparent_format(empty(Ints{2, 3}, DType::Float32).get()) == MemoryFormat::Contiguous);
}

TEST(a_tensor_like_another) {
  const auto like = [](const Ints& sizes, const Ints& strides) { return strides_of(empty_like(with(sizes, strides))); };
  CHECK(like({2, 3}, {3, 1}) == Ints({3, 1}));
  CHECK(like({2, 3}, {1, 2}) == Ints({1, 2}));
  CHECK(like({2, 3}, {20, 2}) == Ints({3, 1}));            // gaps are closed
  CHECK(like({2, 3, 4}, {1, 100, 7}) == Ints({1, 8, 2}));  // in the order of the strides
  CHECK(like({2, 3, 4}, {0, 4, 1}) == Ints({12, 4, 1}));   // an expanded dimension is outside
  CHECK(like({2, 3, 4, 5}, {60, 1, 15, 3}) == Ints({60, 1, 15, 3}));
  const Tensor formatted = empty_like(with({2, 3, 4, 5}, {60, 20, 5, 1}), DType::Float32, {}, MemoryFormat::ChannelsLast);
  CHECK(strides_of(formatted) == Ints({60, 1, 15, 3}));
}

}  // namespace
}  // namespace retrograd
