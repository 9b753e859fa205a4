#include "core/region.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/transfer.h"

namespace retrograd {
namespace {

constexpr int64_t kMostRuns = 1 << 20;

uint64_t mixed(uint64_t h, uint64_t word) {
  h ^= word;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

uint64_t word_at(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// Both halves of a product: 16 bytes for one multiplication, which is about as fast as memory is read.
uint64_t folded(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kSalts[8] = {0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3,
                                0x1d8e4e27c47d124f, 0xeb44accab455d165, 0x9c06faf4d023e3ab, 0xc060724a8424f345};

uint64_t hash_bytes(const void* data, size_t n, uint64_t h) {
  const auto* p = static_cast<const unsigned char*>(data);
  if (n >= 128) {
    uint64_t lanes[8];
    for (int i = 0; i < 8; ++i) lanes[i] = h + kSalts[7 - i];
    for (; n >= 128; n -= 128, p += 128)
      for (int i = 0; i < 8; ++i) lanes[i] = folded(word_at(p + 16 * i) ^ kSalts[i], word_at(p + 16 * i + 8) ^ lanes[i]);
    for (const uint64_t lane : lanes) h = mixed(h, lane);
  }
  for (; n >= 8; n -= 8, p += 8) h = mixed(h, word_at(p));
  if (n > 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, n);
    h = mixed(h, word);
  }
  return h;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t floor_mod(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

int64_t runs(const Region& r) {
  int64_t n = 1;
  for (const Region::Dim& d : r.dims) n *= d.count;
  return n;
}

// Whether the part of r from dimension d on, starting at byte `at`, has a byte in [from, to).
bool touches(const Region& r, size_t d, int64_t at, int64_t from, int64_t to) {
  if (d == r.dims.size()) return at < to && from < at + r.run;
  int64_t extent = r.run;
  for (size_t k = d + 1; k < r.dims.size(); ++k) extent += (r.dims[k].count - 1) * r.dims[k].step;
  const auto [count, step] = r.dims[d];
  const int64_t first = std::max<int64_t>(0, floor_div(from - at - extent, step) + 1);
  const int64_t last = std::min<int64_t>(count - 1, floor_div(to - 1 - at, step));
  for (int64_t i = last; i >= first; --i) {  // only those that begin before `from` need a closer look
    const int64_t block = at + i * step;
    if (block >= from || touches(r, d + 1, block, from, to)) return true;
  }
  return false;
}

void gather(const TensorImpl* t, int d, const char* from, char*& to) {
  const auto item = static_cast<size_t>(itemsize(t->dtype));
  if (d == t->ndim) {
    std::memcpy(to, from, item);
    to += item;
    return;
  }
  for (int64_t i = 0; i < t->size(d); ++i) gather(t, d + 1, from + i * t->stride(d) * static_cast<int64_t>(item), to);
}

}  // namespace

int64_t Region::bytes() const { return empty() ? 0 : runs(*this) * run; }

Region region_of(const TensorImpl* t) {
  Region r;
  if (t->numel == 0) return r;
  const int64_t item = itemsize(t->dtype);
  r.begin = static_cast<char*>(t->data) - static_cast<char*>(t->storage->data);
  r.run = item;
  if (t->is_contiguous()) {
    r.run = t->numel * item;
    r.end = r.begin + r.run;
    return r;
  }
  for (int d = 0; d < t->ndim; ++d)
    if (t->size(d) != 1 && t->stride(d) != 0) r.dims.push_back({t->size(d), t->stride(d) * item});
  std::ranges::sort(r.dims, [](const Region::Dim& a, const Region::Dim& b) { return a.step > b.step; });
  while (!r.dims.empty() && r.dims.back().step == r.run) {
    r.run *= r.dims.back().count;
    r.dims.pop_back();
  }
  for (size_t d = r.dims.size(); d > 1; --d) {
    Region::Dim &outer = r.dims[d - 2], &inner = r.dims[d - 1];
    if (outer.step != inner.step * inner.count) continue;
    inner.count *= outer.count;
    r.dims.erase(r.dims.begin() + static_cast<ptrdiff_t>(d - 2));
  }
  r.end = r.begin + r.run;
  for (const Region::Dim& d : r.dims) r.end += (d.count - 1) * d.step;
  return r;
}

bool disjoint(const Region& a, const Region& b) {
  if (a.empty() || b.empty() || a.end <= b.begin || b.end <= a.begin) return true;
  int64_t common = 0;
  for (const Region* r : {&a, &b})
    for (const Region::Dim& d : r->dims) common = std::gcd(common, d.step);
  if (common == 0) return false;  // two single runs
  if (floor_mod(b.begin - a.begin, common) >= a.run && floor_mod(a.begin - b.begin, common) >= b.run) return true;
  const bool a_first = runs(a) <= runs(b);
  const Region &few = a_first ? a : b, &many = a_first ? b : a;
  if (runs(few) > kMostRuns) return false;
  bool met = false;
  for_each_run(few, [&](int64_t at, int64_t) { met = met || touches(many, 0, many.begin, at, at + few.run); });
  return !met;
}

uint64_t hash_region(const Region& r, const Storage* s) {
  uint64_t h = 0;
  const HostBytes bytes(s, r.begin, r.end);
  for_each_run(r, [&](int64_t at, int64_t) { h = hash_bytes(bytes.at(at), static_cast<size_t>(r.run), h); });
  return h;
}

void read_region(const Region& r, const Storage* s, char* to) {
  const HostBytes bytes(s, r.begin, r.end);
  for_each_run(r, [&](int64_t at, int64_t read) { std::memcpy(to + read, bytes.at(at), static_cast<size_t>(r.run)); });
}

uint64_t hash_elements(const TensorImpl* t) {
  if (RG_LIKELY(t->device.is_cpu())) return hash_elements(t, t->data);
  const Region r = region_of(t);
  const HostBytes bytes(t->storage, r.begin, r.end);
  return hash_elements(t, bytes.at(r.begin));
}

uint64_t hash_elements(const TensorImpl* t, const void* data) {
  const auto bytes = static_cast<size_t>(t->numel * itemsize(t->dtype));
  if (t->is_contiguous() || t->numel == 0) return hash_bytes(data, bytes, 0);
  std::vector<char> elements(bytes);
  char* to = elements.data();
  gather(t, 0, static_cast<const char*>(data), to);
  return hash_bytes(elements.data(), bytes, 0);
}

}  // namespace retrograd
