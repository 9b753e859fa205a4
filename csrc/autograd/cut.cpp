#include "autograd/cut.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <vector>

#include "autograd/doctor.h"
#include "core/birth.h"
#include "core/guards.h"

namespace retrograd {
namespace {

bool same_site(const Site& a, const Site& b) { return a.code == b.code && a.lasti == b.lasti; }
bool operator==(const Cut& a, const Cut& b) {
  bool same = a.kind == b.kind && a.op == b.op && same_site(a.mode, b.mode) && same_site(a.at, b.at);
  for (int i = 0; i < Cut::kParts; ++i) same &= a.parts[i] == b.parts[i];
  return same;
}

size_t hash_of(const Cut& c) {
  size_t h = static_cast<size_t>(c.kind);
  const auto mix = [&](size_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15u; };
  mix(reinterpret_cast<size_t>(c.at.code) + static_cast<size_t>(c.at.lasti));
  mix(reinterpret_cast<size_t>(c.mode.code) + static_cast<size_t>(c.mode.lasti));
  for (const uint32_t part : c.parts) mix(part);
  mix(reinterpret_cast<size_t>(c.op));
  return h ^ h >> 32;
}

struct Hash {
  size_t operator()(const Cut& c) const { return hash_of(c); }
};
struct Equal {
  bool operator()(const Cut& a, const Cut& b) const { return a == b; }
};

// Entry 0 stands for no note.
struct Table {
  std::deque<Cut> entries{1};
  std::vector<uint32_t> free;
  std::unordered_map<Cut, uint32_t, Hash, Equal> numbers;
  size_t sweep_at = 4096;
  bool sweeping = false;
};

// Small caches before the table, for what a loop asks for again and again. Their sites are borrowed from the table: a sweep empties them.
struct RecentCut {
  Site mode, at;
  const char* op;
  CutKind kind;
  uint32_t note;
};
struct RecentMerge { uint32_t a, b, merged; };
RecentCut recent_cuts[256];
RecentMerge recent_merges[256];
Table& table() {
  static auto* t = new Table();  // tensors may be freed after the end of the program
  return *t;
}

// Frees the notes that no living tensor has.
void sweep(Table& t) {
  std::fill(std::begin(recent_cuts), std::end(recent_cuts), RecentCut{});
  std::fill(std::begin(recent_merges), std::end(recent_merges), RecentMerge{});
  std::vector<bool> used(t.entries.size());
  t.sweeping = true;
  try {
    for_each_tensor(
        [](TensorImpl* tensor, void* context) {
          auto& marks = *static_cast<std::vector<bool>*>(context);
          if (tensor->cut < marks.size()) marks[tensor->cut] = true;  // a finalizer may have made another
        },
        &used);
  } catch (const PythonError&) {
    PyErr_Clear();
    used.assign(used.size(), true);
  }
  t.sweeping = false;
  for (size_t i = t.entries.size(); i-- > 1;)
    if (used[i])
      for (const uint32_t part : t.entries[i].parts) used[part] = true;
  std::vector<PyCodeObject*> dropped;
  for (auto entry = t.numbers.begin(); entry != t.numbers.end();) {
    if (entry->second >= used.size() || used[entry->second]) {
      ++entry;
      continue;
    }
    dropped.push_back(entry->first.mode.code);
    dropped.push_back(entry->first.at.code);
    t.free.push_back(entry->second);
    t.entries[entry->second] = Cut{};
    entry = t.numbers.erase(entry);
  }
  std::fill(std::begin(recent_cuts), std::end(recent_cuts), RecentCut{});  // a finalizer may have filled them
  std::fill(std::begin(recent_merges), std::end(recent_merges), RecentMerge{});
  t.sweep_at = 4096 + 2 * t.numbers.size();
  crowded = false;
  for (PyCodeObject* code : dropped) Py_XDECREF(reinterpret_cast<PyObject*>(code));
}

int rank(const Cut& c) {
  const CutKind kind = c.kind == CutKind::Merged ? cut_of(c.parts[0]).kind : c.kind;
  return kind >= CutKind::NoGrad ? 2 : kind == CutKind::Frozen;
}

}  // namespace

const Cut& cut_of(uint32_t note) { return table().entries[note]; }
bool crowded = false;
void sweep_cuts() {
  if (!table().sweeping) sweep(table());
}

uint32_t cut_note(const Cut& cut) {
  Table& t = table();
  if (const auto found = t.numbers.find(cut); found != t.numbers.end()) return found->second;
  uint32_t note = static_cast<uint32_t>(t.entries.size());
  if (!t.free.empty() && !t.sweeping) {
    note = t.free.back();
    t.free.pop_back();
    t.entries[note] = cut;
  } else {
    t.entries.push_back(cut);
  }
  t.numbers.emplace(cut, note);
  Py_XINCREF(reinterpret_cast<PyObject*>(cut.mode.code));
  Py_XINCREF(reinterpret_cast<PyObject*>(cut.at.code));
  crowded = t.numbers.size() >= t.sweep_at;
  return note;
}

// The same through the cache.
static inline uint32_t quick_note(CutKind kind, const char* op, const Site& mode, const Site& at) {
  const Site& where = at.code ? at : mode;
  const size_t place = (reinterpret_cast<size_t>(where.code) >> 4) + static_cast<size_t>(where.lasti >> 1) +
                       (reinterpret_cast<size_t>(op) >> 1) + static_cast<size_t>(kind);
  RecentCut& r = recent_cuts[place % std::size(recent_cuts)];
  const bool same = r.note && same_site(r.at, at) && same_site(r.mode, mode) && r.op == op && r.kind == kind;
  if (RG_UNLIKELY(!same)) r = {mode, at, op, kind, cut_note({.kind = kind, .op = op, .mode = mode, .at = at})};
  return r.note;
}

static uint32_t merge_slowly(uint32_t a, uint32_t b);
uint32_t merge_cuts(uint32_t a, uint32_t b) {
  if (a == b || !b) return a;
  if (!a) return b;
  RecentMerge& r = recent_merges[(a * 31 + b) % std::size(recent_merges)];
  if (RG_UNLIKELY(r.a != a || r.b != b)) r = {a, b, merge_slowly(a, b)};
  return r.merged;
}

static uint32_t merge_slowly(uint32_t a, uint32_t b) {
  const Cut &x = cut_of(a), &y = cut_of(b);
  if (const int order = rank(x) - rank(y)) return order > 0 ? a : b;
  Cut all{.kind = CutKind::Merged};
  int count = 0;
  const auto add = [&](uint32_t note) {
    for (int i = 0; i < count; ++i)
      if (all.parts[i] == note) return;
    if (note && count < Cut::kParts) all.parts[count++] = note;
  };
  for (const uint32_t note : {a, b}) {
    const Cut& c = cut_of(note);
    if (c.kind != CutKind::Merged) add(note);
    if (c.kind == CutKind::Merged)
      for (const uint32_t part : c.parts) add(part);
  }
  return cut_note(all);
}

uint32_t cut_here(CutKind kind, const char* op) { return quick_note(kind, op, {}, borrowed_site()); }

void note_cut(TensorImpl* t, CutKind kind, const char* op) {
  make_room();
  set_cut(t, cut_here(kind, op));
}

void note_leaf(TensorImpl* t) {
  make_room();
  const Restore user(skip_libraries, true);  // not the line of copy.deepcopy() that makes it
  const Site at = current_site();
  t->cut = cut_note({.kind = CutKind::Made, .at = at, .parts = {t->cut}});
  Py_XDECREF(reinterpret_cast<PyObject*>(at.code));
}

static void note_inference(TensorImpl* t) {
  if (doctor.on) t->cut = quick_note(CutKind::Inference, nullptr, thread_state.mode_site, borrowed_site());
}
void (*const noted_births)(TensorImpl*) = note_birth = note_inference;

std::string inference_story(const TensorImpl* t) {
  std::string text;
  uint32_t note = t->cut;
  while (note && cut_of(note).kind == CutKind::Made) note = cut_of(note).parts[0];  // it became a parameter since
  if (note && cut_of(note).kind == CutKind::Inference) {
    if (const Site& at = cut_of(note).at; at.code) text += "\n  it was made in inference mode at " + site_text(at);
  }
  const Site now = current_site();
  if (now.code) text += "\n  and is used at " + site_text(now);
  Py_XDECREF(reinterpret_cast<PyObject*>(now.code));
  return text;
}

uint32_t cut_by_op(const char* op) {
  if (thread_state.grad_mode) return cut_here(CutKind::NonDifferentiable, op);
  const Site& mode = thread_state.mode_site;
  if (thread_state.inference_mode) return quick_note(CutKind::Inference, op, mode, borrowed_site());
  switch (thread_state.off) {
    case Off::User: return quick_note(CutKind::NoGrad, op, mode, borrowed_site());
    case Off::Backward:  // what transforms call is not the user's
      return thread_state.transform_depth ? 0 : quick_note(CutKind::Backward, nullptr, mode, {});
    case Off::Forward: return quick_note(CutKind::Forward, nullptr, mode, {});
    default: return quick_note(CutKind::Hook, nullptr, mode, {});
  }
}

}  // namespace retrograd
