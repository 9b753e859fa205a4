// core/write_notes.h: whether what somebody saved is still what it was.
#include "core/write_notes.h"

#include "check.h"

namespace retrograd {
namespace {

using Ints = std::vector<int64_t>;

// Eight numbers, with a tensor that has a counter of its own (as `.data` gives): its writes move no version of the others.
struct Memory {
  Tensor all = empty(Ints{8}, DType::Int32), hidden = alias(all);

  Memory() {
    for (int i = 0; i < 8; ++i) all.data<int32_t>()[i] = i;
    give_version(hidden.get(), 0);
  }
  ~Memory() {
    while (is_saved(all->storage)) drop_save(all->storage);
  }
  Tensor part(const Tensor& of, int64_t from, int64_t n) const { return alias_as(of, Ints{n}, Ints{1}, from); }
};

struct Save {
  Tensor tensor;
  uint32_t version, unseen;

  explicit Save(const Tensor& t) : tensor(t), version(version_of(t.get())), unseen(unseen_writes(t.get())) { add_save(t->storage); }
  bool changed() const { return find_change(tensor.get(), version, unseen, false).found; }
};

void write(const Tensor& t, int32_t value) {
  before_write(t.get());
  for (int64_t i = 0; i < t.numel(); ++i) t.data<int32_t>()[i * t.stride(0)] = value;
  bump_version(t.get());
}

TEST(a_write_elsewhere_is_no_change) {
  const Memory m;
  const Save left(m.part(m.all, 0, 4)), right(m.part(m.all, 4, 4));
  CHECK(!left.changed() && !right.changed());
  write(m.part(m.hidden, 5, 2), 100);
  CHECK(!left.changed());
  CHECK(right.changed());
}

TEST(what_is_put_back_is_no_change) {
  const Memory m;
  const Save all(m.all);
  write(m.part(m.hidden, 3, 1), 100);
  CHECK(all.changed());
  write(m.part(m.hidden, 3, 1), 3);
  CHECK(!all.changed());
  write(m.part(m.hidden, 2, 3), 9);  // over the same element, by another region
  CHECK(all.changed());
  for (int i = 2; i < 5; ++i) write(m.part(m.hidden, i, 1), i);  // piece by piece
  CHECK(!all.changed());
}

TEST(each_save_asks_about_its_own_time) {
  const Memory m;
  const Save early(m.all);
  write(m.part(m.hidden, 0, 1), 7);
  const Save late(m.all);
  CHECK(early.changed() && !late.changed());
  write(m.part(m.hidden, 0, 1), 0);
  CHECK(!early.changed() && late.changed());
}

TEST(interleaved_columns_are_apart) {
  const Memory m;
  const Save even(alias_as(m.all, Ints{4}, Ints{2}, 0));
  write(alias_as(m.hidden, Ints{4}, Ints{2}, 1), 5);
  CHECK(!even.changed());
  write(alias_as(m.hidden, Ints{2}, Ints{4}, 0), 5);
  CHECK(even.changed());
}

TEST(a_write_that_was_not_announced_counts) {
  const Memory m;
  const Save all(m.all);
  bump_version(m.hidden.get());
  CHECK(all.changed());
}

TEST(more_writes_than_are_noted) {
  const Memory m;
  const Save all(m.all);
  for (int i = 0; i < 10'000; ++i) {
    const Save between(m.all);
    write(m.part(m.hidden, i % 8, 1), i);
    CHECK(between.changed() || i < 8);
    drop_save(m.all->storage);
  }
  CHECK(all.changed());
}

TEST(notes_go_with_the_last_save) {
  const Memory m;
  {
    const Save save(m.all);
    write(m.hidden, 1);
    CHECK(m.all->storage->notes != nullptr);
    drop_save(m.all->storage);
  }
  CHECK(m.all->storage->notes == nullptr);
  write(m.hidden, 2);
  CHECK(m.all->storage->notes == nullptr);
}

}  // namespace
}  // namespace retrograd
