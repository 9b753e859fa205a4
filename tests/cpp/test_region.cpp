// core/region.h: which bytes a tensor covers, held against sets of bytes.
#include "core/region.h"

#include <set>

#include "check.h"

namespace retrograd {
namespace {

using Ints = std::vector<int64_t>;

Tensor memory(int64_t n) {
  const Tensor t = empty(Ints{n}, DType::Int16);
  for (int64_t i = 0; i < n; ++i) t.data<int16_t>()[i] = static_cast<int16_t>(i * 37);
  return t;
}

std::set<int64_t> bytes_of(const TensorImpl* t) {
  std::set<int64_t> bytes;
  for (int64_t i = 0; i < t->numel; ++i) {
    int64_t at = t->offset(), rest = i;
    for (int d = t->ndim; d-- > 0;) {
      at += rest % t->size(d) * t->stride(d);
      rest /= t->size(d);
    }
    for (int64_t b = 0; b < itemsize(t->dtype); ++b) bytes.insert(at * itemsize(t->dtype) + b);
  }
  return bytes;
}

std::set<int64_t> bytes_of(const Region& r) {
  std::set<int64_t> bytes;
  for_each_run(r, [&](int64_t at, int64_t) {
    for (int64_t b = 0; b < r.run; ++b) bytes.insert(at + b);
  });
  return bytes;
}

Tensor random_view(const Tensor& base, units::Numbers& random) {
  const int64_t room = base.numel(), offset = random.below(room);
  Ints sizes, strides;
  int64_t last = offset;
  for (int64_t d = random.between(0, 3); d > 0; --d) {
    const int64_t size = random.between(1, 6), stride = random.between(0, 12);
    if (last + (size - 1) * stride >= room) continue;
    last += (size - 1) * stride;
    sizes.push_back(size);
    strides.push_back(stride);
  }
  if (random.below(30) == 0) {
    sizes.push_back(0);
    strides.push_back(1);
  }
  return alias_as(base, sizes, strides, offset);
}

TEST(a_region_is_the_bytes_of_its_tensor) {
  const Tensor base = memory(100);
  units::Numbers random(3);
  for (int i = 0; i < 3000; ++i) {
    const Tensor t = random_view(base, random);
    const Region r = region_of(t.get());
    const std::set<int64_t> bytes = bytes_of(t.get());
    CHECK(bytes_of(r) == bytes);
    CHECK_EQUAL(r.empty(), bytes.empty());
    if (bytes.empty()) continue;
    CHECK_EQUAL(r.begin, *bytes.begin());
    CHECK_EQUAL(r.end, *bytes.rbegin() + 1);
    CHECK(lies_in(r, base->storage));
  }
}

TEST(shapes_do_not_matter) {
  const Tensor base = memory(24);
  const auto region = [&](const Ints& sizes, const Ints& strides, int64_t offset) {
    return region_of(alias_as(base, sizes, strides, offset).get());
  };
  CHECK(region({2, 3, 4}, {12, 4, 1}, 0) == region({24}, {1}, 0));
  CHECK(region({4, 6}, {1, 4}, 0) == region({24}, {1}, 0));
  CHECK(region({6}, {4}, 1) == region({2, 3}, {12, 4}, 1));
  CHECK(region({2, 2}, {4, 1}, 0) == region({1, 2, 1, 2}, {9, 1, 9, 4}, 0));
  CHECK(region({5, 4}, {0, 1}, 0) == region({4}, {1}, 0));  // expanded
  CHECK(region({4}, {1}, 0) != region({4}, {1}, 1));
  CHECK_EQUAL(region({6}, {4}, 1).bytes(), int64_t{12});
}

TEST(disjoint_is_exact_for_small_regions) {
  const Tensor bases[] = {memory(60), empty(Ints{60}, DType::UInt8)};  // of single bytes too, where one more or less shows
  units::Numbers random(4);
  int apart = 0, interleaved = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Tensor& base = bases[i % 2];
    const Tensor a = random_view(base, random), b = random_view(base, random);
    const Region ra = region_of(a.get()), rb = region_of(b.get());
    std::set<int64_t> common;
    const std::set<int64_t> ba = bytes_of(ra), bb = bytes_of(rb);
    for (const int64_t byte : ba)
      if (bb.contains(byte)) common.insert(byte);
    CHECK_EQUAL(disjoint(ra, rb), common.empty());
    CHECK_EQUAL(disjoint(rb, ra), common.empty());
    apart += common.empty();
    interleaved += common.empty() && !ra.empty() && !rb.empty() && ra.begin < rb.end && rb.begin < ra.end;
  }
  CHECK(apart > 1000 && apart < 19'000 && interleaved > 100);  // the cases were worth asking about
}

TEST(columns_of_a_large_matrix_are_told_apart_at_once) {
  const Tensor base = empty(Ints{3000, 3000}, DType::Int16);
  const Region a = region_of(alias_as(base, Ints{3000, 1500}, Ints{3000, 2}, 0).get());
  const Region b = region_of(alias_as(base, Ints{3000, 1500}, Ints{3000, 2}, 1).get());
  CHECK(disjoint(a, b));
  CHECK(!disjoint(a, a));
}

TEST(a_hash_sees_every_byte_of_the_region_and_no_other) {
  const Tensor base = memory(300);
  auto* data = static_cast<char*>(base->data);
  units::Numbers random(5);
  for (int i = 0; i < 60; ++i) {
    const Tensor t = i == 0 ? base : random_view(base, random);  // the first is long enough for the wide loop
    const Region r = region_of(t.get());
    const std::set<int64_t> bytes = bytes_of(r);
    const uint64_t hash = hash_region(r, base->storage);
    for (int64_t b = 0; b < 600; ++b) {
      data[b] ^= 16;
      CHECK_EQUAL(hash_region(r, base->storage) != hash, bytes.contains(b));
      data[b] ^= 16;
    }
    std::vector<char> read(static_cast<size_t>(r.bytes()));
    read_region(r, base->storage, read.data());
    size_t k = 0;
    for (const int64_t b : bytes)
      if (r.dims.empty()) CHECK_EQUAL(int{read[k++]}, int{data[b]});
  }
}

TEST(elements_hash_the_same_however_they_lie) {
  const Tensor base = memory(24), turned = empty(Ints{4, 6}, DType::Int16);
  const Tensor view = alias_as(base, Ints{4, 6}, Ints{1, 4}, 0);
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 6; ++j) turned.data<int16_t>()[i * 6 + j] = base.data<int16_t>()[i + 4 * j];
  CHECK(hash_elements(view.get()) == hash_elements(turned.get()));
  CHECK(hash_elements(view.get()) != hash_elements(base.get()));
  turned.data<int16_t>()[23] ^= 1;
  CHECK(hash_elements(view.get()) != hash_elements(turned.get()));
}

}  // namespace
}  // namespace retrograd
