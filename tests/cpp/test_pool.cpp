// core/pool.h: slots for tensors and nodes.
#include "core/pool.h"

#include <algorithm>
#include <set>

#include "check.h"

namespace retrograd {
namespace {

constexpr size_t kBytes = 200;

std::set<PyObject*> listed(Pool& pool) {
  std::set<PyObject*> found;
  pool.for_each([&](PyObject* o) { found.insert(o); });
  return found;
}

void fill(PyObject* o, int value) { std::memset(static_cast<void*>(o), value, kBytes); }

TEST(slots_are_apart_and_on_cache_lines) {
  Pool pool(kBytes);
  std::vector<PyObject*> taken;
  for (int i = 0; i < 1000; ++i) {  // several chunks
    taken.push_back(pool.take());
    fill(taken.back(), i % 251);
  }
  CHECK_EQUAL(pool.live(), 1000u);
  for (size_t i = 0; i < taken.size(); ++i) {
    CHECK_EQUAL(reinterpret_cast<uintptr_t>(taken[i]) % kSlotStep, sizeof(GcHead));
    const auto* bytes = reinterpret_cast<const unsigned char*>(taken[i]);
    CHECK(std::all_of(bytes, bytes + kBytes, [&](unsigned char b) { return b == i % 251; }));
    const auto* head = reinterpret_cast<const GcHead*>(taken[i]) - 1;
    CHECK(head->words[0] == 0 && head->words[1] == 0);  // not tracked
  }
  for (PyObject* o : taken) pool.give(o);
  pool.trim();
}

TEST(the_living_are_listed) {
  Pool pool(kBytes);
  std::vector<PyObject*> taken;
  for (int i = 0; i < 500; ++i) taken.push_back(pool.take());
  std::set<PyObject*> living(taken.begin(), taken.end());
  CHECK_EQUAL(living.size(), 500u);
  CHECK(listed(pool) == living);
  units::Numbers random(1);
  for (int i = 0; i < 2000; ++i) {
    if (living.empty() || random.below(2)) {
      PyObject* o = pool.take();
      CHECK(living.insert(o).second);  // nobody has it
    } else {
      const auto it = std::next(living.begin(), random.below(static_cast<int64_t>(living.size())));
      pool.give(*it);
      living.erase(it);
    }
  }
  CHECK(listed(pool) == living);
  CHECK_EQUAL(pool.live(), living.size());
  for (PyObject* o : living) pool.give(o);
  CHECK_EQUAL(pool.live(), 0u);
  CHECK(listed(pool).empty());
  pool.trim();
}

TEST(the_last_given_is_the_next_taken) {
  Pool pool(kBytes);
  PyObject *a = pool.take(), *b = pool.take();
  pool.give(a);
  CHECK(pool.take() == a);
  pool.trim();  // does nothing: two are alive
  CHECK_EQUAL(listed(pool).size(), 2u);
  pool.give(a);
  pool.give(b);
  pool.trim();
  CHECK(listed(pool).empty());
  b = pool.take();  // from a new chunk
  fill(b, 1);
  CHECK_EQUAL(pool.live(), 1u);
  pool.give(b);
  pool.trim();
}

}  // namespace
}  // namespace retrograd
