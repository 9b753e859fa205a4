#include "core/write_notes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/region.h"
#include "core/state.h"
#include "core/transfer.h"

namespace retrograd {

namespace {

constexpr size_t kMostNotes = 4096, kMostMoves = 64;           // of a storage; of a tensor
constexpr int64_t kCopyLimit = 16384, kCopiesLimit = 1 << 18;  // bytes of a region that are kept; of all regions of a storage
constexpr int64_t kExactLimit = 1 << 20;                       // bytes between the ends of a saved tensor that is compared byte by byte

uint32_t clock_of(const Storage* s) { return s->version + s->hidden_writes; }
bool before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }  // counters may wrap

// An owned site with the time of the write.
struct Write {
  Site site;
  uint32_t time = 0;

  Write() = default;
  Write(Site owned, uint32_t time) : site(owned), time(time) {}
  Write(Write&& o) noexcept : site(std::exchange(o.site, {})), time(o.time) {}
  Write(const Write& o) : site(copy_site(o.site)), time(o.time) {}
  Write& operator=(Write o) noexcept {
    std::swap(site, o.site);
    std::swap(time, o.time);
    return *this;
  }
  ~Write() { Py_XDECREF(reinterpret_cast<PyObject*>(site.code)); }
};

// A region that was written.
struct Place {
  Region region;
  uint32_t span = 0;      // between which saves it was noted last
  size_t newest = 0;      // note
  bool known = false;     // what it held before the latest write
  bool written = false;   // not only handed out
  uint64_t last = 0;      // hash of that
  Write latest, changed;  // the latest write, and the latest of which a later one saw that it changed something
  Write handed_out;
};

// What a place held, for saves until a time: up to the first write to it after them. Notes are in the order of these writes.
struct Note {
  size_t place;
  uint32_t until;
  bool known, outside;
  uint64_t hash;
  std::shared_ptr<const char[]> copy;
};

}  // namespace

struct WriteNotes {
  std::vector<Place> places;
  std::vector<Note> notes;
  uint32_t span = 0;
  int64_t copied = 0;
  bool lost = false;  // saves up to lost_until know nothing
  bool lost_order = false;
  uint32_t lost_until = 0;
  std::vector<const TensorImpl*> announced;  // before_write() without bump_version(), compared only
  uint32_t announced_at = 0;
  Write latest;
};

struct MoveNotes {
  struct Move {
    uint32_t from, until;  // unseen_writes() of the saves it speaks of
    bool known;            // what they saved
    uint64_t hash;
    DType dtype;
    std::vector<int64_t> sizes;
    Write write, earlier;  // the move, and what had changed the elements before
  };
  std::vector<Move> moves;
};

namespace {

bool has_data(const TensorImpl* t) { return !t->has(kBatched) && t->device.type != DeviceType::Meta && t->storage->data; }

bool holds(const Storage* s, const Place& place, const Note& note) {
  return note.known && lies_in(place.region, s) && hash_region(place.region, s) == note.hash;
}

void lose(WriteNotes& n, uint32_t until) {
  n.lost = true;
  n.lost_until = until;
}

// There is no room for another note. When all was put back, saves need none of them; otherwise those up to now are lost.
void make_room(WriteNotes& n, const Storage* s, uint32_t now) {
  const auto is_back = [&](const Note& note) { return !note.outside && holds(s, n.places[note.place], note); };
  if (!std::ranges::all_of(n.notes, is_back)) lose(n, now);
  n.places.clear();
  n.notes.clear();
  n.copied = 0;
}

Place* find_place(WriteNotes& n, const Region& r) {
  for (size_t i = n.places.size(); i > 0; --i)
    if (n.places[i - 1].region == r) return &n.places[i - 1];
  return nullptr;
}

WriteNotes& notes_of(Storage* s) {
  if (!s->notes) s->notes = new WriteNotes();
  WriteNotes& n = *s->notes;
  if (s->saves & 1) {  // somebody saved since the last note
    s->saves &= ~1u;
    ++n.span;
  }
  return n;
}

// The place of a region of `s`, noted for the saves up to `now`.
Place& note(Storage* s, const Region& r, bool known, bool outside, uint32_t now) {
  WriteNotes& n = notes_of(s);
  known = known && lies_in(r, s);
  const uint64_t hash = known ? hash_region(r, s) : 0;
  Place* place = find_place(n, r);
  std::shared_ptr<const char[]> copy;
  if (place) {
    if (place->written && place->known && known && hash != place->last) place->changed = place->latest;
    place->last = hash;
    place->known = known;
    Note& newest = n.notes[place->newest];
    const bool serves = outside || !newest.outside;
    if (place->span == n.span && serves) return *place;
    if (known && newest.known && newest.hash == hash) {
      if (serves && place->newest + 1 == n.notes.size()) {  // else the order of notes would say less
        newest.until = now;
        place->span = n.span;
        return *place;
      }
      copy = newest.copy;
    }
  }
  if (n.notes.size() == kMostNotes) {
    place = nullptr;
    make_room(n, s, now);
  }
  if (!place) {
    place = &n.places.emplace_back();
    place->region = r;
    place->last = hash;
  }
  place->known = known;
  place->span = n.span;
  place->newest = n.notes.size();
  if (const int64_t bytes = r.bytes(); known && !copy && bytes <= kCopyLimit && n.copied + bytes <= kCopiesLimit) {
    auto* memory = new char[static_cast<size_t>(bytes)];
    copy.reset(memory);
    read_region(r, s, memory);
    n.copied += bytes;
  }
  n.notes.push_back({static_cast<size_t>(place - n.places.data()), now, known, outside, hash, std::move(copy)});
  return *place;
}

void note_site(Place& place, uint32_t now) {
  place.latest = Write(current_site(), now);
  place.written = true;
}

// The write that made a place what it is; a borrowed site.
const Write& maker(const Storage* s, const Place& place) {
  const bool unmoved = place.known && lies_in(place.region, s) && hash_region(place.region, s) == place.last;
  return unmoved && place.changed.site.code ? place.changed : place.latest;
}

// The notes since a time, or the first of them, of each place that has bytes in common with a region.
std::vector<const Note*> notes_since(const WriteNotes& n, const Region& r, uint32_t since, bool watch_outside, bool firsts = true) {
  std::vector<const Note*> found;
  std::vector<char> seen(n.places.size());
  for (const Note& note : n.notes) {
    if (before(note.until, since) || seen[note.place] || (note.outside && !watch_outside)) continue;
    seen[note.place] = firsts;
    if (!disjoint(r, n.places[note.place].region)) found.push_back(&note);
  }
  return found;
}

// The bytes between the ends of `r` as they were at some time, from the notes since: what was written comes from the first copy that has
// it. False when that is not known.
bool bytes_at(const WriteNotes& n, const Storage* s, const Region& r, std::span<const Note* const> notes, std::vector<char>& was) {
  if (r.end - r.begin > kExactLimit || !lies_in(r, s)) return false;
  for (const Note* note : notes)
    if (!note->copy) return false;
  const HostBytes now(s, r.begin, r.end);
  was.assign(now.at(r.begin), now.at(r.end));
  for (size_t i = notes.size(); i > 0; --i) {  // the earliest last
    const Note& note = *notes[i - 1];
    const Region& from = n.places[note.place].region;
    for_each_run(from, [&](int64_t at, int64_t read) {
      const int64_t first = std::max(at, r.begin), last = std::min(at + from.run, r.end);
      if (first < last)
        std::memcpy(&was[static_cast<size_t>(first - r.begin)], &note.copy[static_cast<size_t>(read + first - at)],
                    static_cast<size_t>(last - first));
    });
  }
  return true;
}

bool same_bytes(const WriteNotes& n, const Storage* s, const Region& r, std::span<const Note* const> notes) {
  std::vector<char> was;
  if (!bytes_at(n, s, r, notes, was)) return false;
  const HostBytes now(s, r.begin, r.end);
  bool same = true;
  for_each_run(r, [&](int64_t at, int64_t) {
    same = same && std::memcmp(now.at(at), &was[static_cast<size_t>(at - r.begin)], static_cast<size_t>(r.run)) == 0;
  });
  return same;
}

bool is_lost(const WriteNotes& n, uint32_t since) { return n.lost_order || (n.lost && !before(n.lost_until, since)); }

// Among writes to the memory that `t` has now.
Change find_on_storage(const TensorImpl* t, uint32_t since, bool watch_outside) {
  const Storage* s = t->storage;
  const WriteNotes* n = s->notes;
  Change change;
  if (t->numel == 0) return change;
  if (!n) {
    change.found = clock_of(s) != since;
    return change;
  }
  if (!has_data(t) || is_lost(*n, since)) return {true, false, n->latest.site};
  const Region r = region_of(t);
  const std::vector<const Note*> since_then = notes_since(*n, r, since, watch_outside);
  const Write* culprit = nullptr;
  for (const Note* note : since_then) {
    const Place& place = n->places[note->place];
    if (holds(s, place, *note)) continue;
    change.found = true;
    const Write* by = place.written ? &maker(s, place) : nullptr;
    if (by && !before(by->time, since) && (!culprit || !before(by->time, culprit->time))) culprit = by;
    if (!by && !change.site.code) change.site = place.handed_out.site;
  }
  if (!change.found) return change;
  if (same_bytes(*n, s, r, since_then)) return {};
  change.outside = !culprit && (s->flags & kStorageExported);
  if (!change.outside) change.site = culprit ? culprit->site : n->latest.site;
  return change;
}

uint32_t unseen_base(const TensorImpl* t) { return t->has(kOwnVersion) ? t->extra->unseen_base : 0; }
uint32_t time_of(const TensorImpl* t, uint32_t version, uint32_t unseen) { return version + unseen - unseen_base(t); }

}  // namespace

void note_write(const TensorImpl* t) {
  Storage* s = t->storage;
  const uint32_t now = clock_of(s);
  WriteNotes& n = notes_of(s);
  if (n.announced_at != now) {
    n.announced.clear();
    n.announced_at = now;
  }
  if (std::ranges::find(n.announced, t) == n.announced.end()) n.announced.push_back(t);
  if (!has_data(t)) return lose(n, now);
  const Region r = region_of(t);
  // What every tensor on this memory sees in its version needs no contents.
  if (!r.empty()) note_site(note(s, r, s->flags & kStorageCounters, false, now), now);
}

void note_written(const TensorImpl* t) {
  Storage* s = t->storage;
  const uint32_t then = clock_of(s) - 1;
  WriteNotes& n = notes_of(s);
  n.latest = Write(current_site(), then);
  if (const auto found = std::ranges::find(n.announced, t); found != n.announced.end()) {
    n.announced.erase(found);
    return;
  }
  if (!has_data(t)) return lose(n, then);
  const Region r = region_of(t);
  if (r.empty()) return;
  ++n.span;  // a note of its own: contents of before are not known
  note_site(note(s, r, false, false, then), then);
}

void note_export(const TensorImpl* t) {
  if (!has_data(t) || t->numel == 0) return;
  Storage* s = t->storage;
  const uint32_t now = clock_of(s);
  note(s, region_of(t), true, true, now).handed_out = Write(current_site(), now);
}

void lose_order(Storage* s) {
  if (is_saved(s)) notes_of(s).lost_order = true;
}

void forget_writes(Storage* s) noexcept {
  delete std::exchange(s->notes, nullptr);  // in this order: letting go of a code object may run Python
}

void forget_moves(TensorExtra& e) noexcept { delete std::exchange(e.moves, nullptr); }

namespace {

// What `t` held at the times of its saves, for each of them: saves between two writes to it found the same.
void note_contents(TensorImpl* t, std::vector<MoveNotes::Move>& moves) {
  const Storage* s = t->storage;
  const uint32_t now = clock_of(s), to_unseen = unseen_base(t) - version_of(t);
  const Write write(current_site(), now);
  uint32_t from = moves.empty() ? 0 : moves.back().until + 1 - to_unseen;
  const auto add = [&](uint32_t until, std::optional<uint64_t> hash, Site site) {
    MoveNotes::Move m{
        from + to_unseen, until + to_unseen, hash.has_value(), hash.value_or(0), t->dtype, {}, write, Write(copy_site(site), until)};
    m.sizes.assign(t->shape().begin(), t->shape().end());
    moves.push_back(std::move(m));
    from = until + 1;
  };
  if (!has_data(t)) return add(now, std::nullopt, write.site);
  const Region r = region_of(t);
  if (!lies_in(r, s)) return add(now, std::nullopt, write.site);
  if (const WriteNotes* n = s->notes) {
    if (is_lost(*n, from)) {
      add(n->lost_order ? now : n->lost_until, std::nullopt, n->latest.site);
      if (n->lost_order) return;
    }
    std::vector<uint32_t> times;  // between two of them, all saves found the same
    for (const Note* note : notes_since(*n, r, from, true, false)) times.push_back(note->until);
    std::ranges::sort(times, before);
    times.erase(std::ranges::unique(times).begin(), times.end());
    if (times.size() > kMostMoves) {
      const auto kept = times.end() - kMostMoves;
      add(kept[-1], std::nullopt, n->latest.site);
      times.erase(times.begin(), kept);
    }
    for (const uint32_t time : times) {
      const std::vector<const Note*> notes = notes_since(*n, r, time, true);
      const Change change = find_on_storage(t, time, true);
      std::vector<char> was;
      std::optional<uint64_t> hash;
      if (!change.found) {
        hash = hash_elements(t);
      } else if (bytes_at(*n, s, r, notes, was)) {
        hash = hash_elements(t, was.data());
      } else if (notes.size() == 1 && notes[0]->known && r.dims.empty() && n->places[notes[0]->place].region == r) {
        hash = notes[0]->hash;
      }
      add(time, hash, change.site.code ? change.site : write.site);
    }
  }
  if (!before(now, from)) add(now, hash_elements(t), write.site);
}

}  // namespace

void note_move(TensorImpl* t, Storage* to) {
  Storage* s = t->storage;
  if (!is_saved(s)) {
    if (t->extra && t->extra->moves) forget_moves(*t->extra);
    return;
  }
  MoveNotes*& known = extra_of(t).moves;
  if (!known) known = new MoveNotes();
  auto& moves = known->moves;
  note_contents(t, moves);
  if (moves.size() > kMostMoves) {  // the oldest saves know nothing
    moves.erase(moves.begin(), moves.end() - static_cast<ptrdiff_t>(kMostMoves));
  }
  if (to == s) {
    notes_of(s);
  } else if (s->refs == 1 && !((s->saves | to->saves) & kSavesUncounted)) {  // nobody else has saves there
    to->saves = (to->saves + (s->saves & ~1u)) | 1;
  } else {  // whose saves they are is not known: neither count falls to zero any more
    s->saves |= kSavesUncounted;
    to->saves |= kSavesUncounted | 1;
  }
}

namespace {

// `t` was moved since: `m` knows what it held when it was saved.
Change find_across_moves(const TensorImpl* t, const std::vector<MoveNotes::Move>& moves, size_t m, uint32_t version, bool watch_outside) {
  const MoveNotes::Move& saved = moves[m];
  const auto holds_now = [&](const MoveNotes::Move& move) {
    return move.known && move.dtype == t->dtype && same_sizes({move.sizes.data(), move.sizes.size()}, t->shape()) && has_data(t) &&
           lies_in(region_of(t), t->storage) && hash_elements(t) == move.hash;
  };
  if (holds_now(saved)) return {};
  if (!saved.known) return {true, false, saved.earlier.site};
  // It changed before it was moved and is again what it was then, or it was written since, or it never was what it had been.
  for (size_t later = m + 1; later < moves.size(); ++later)
    if (holds_now(moves[later])) return {true, false, saved.earlier.site};
  if (t->storage->notes) {
    const Change change = find_on_storage(t, time_of(t, version, moves.back().until + 1), watch_outside);
    if (change.found && change.site.code) return change;
  }
  return {true, false, moves.back().write.site};
}

}  // namespace

Change find_change(const TensorImpl* t, uint32_t version, uint32_t unseen, bool watch_outside) {
  if (t->extra && t->extra->moves) {
    const auto& moves = t->extra->moves->moves;
    for (size_t m = 0; m < moves.size(); ++m) {
      if (before(moves[m].until, unseen)) continue;
      if (before(unseen, moves[m].from)) return {true, false, moves[m].earlier.site};
      return find_across_moves(t, moves, m, version, watch_outside);
    }
  }
  return find_on_storage(t, time_of(t, version, unseen), watch_outside);
}

Site find_write(const TensorImpl* t, uint32_t version, uint32_t unseen, bool& touched) {
  touched = true;
  const WriteNotes* n = t->storage->notes;
  if (!n) return {};
  const uint32_t since = time_of(t, version, unseen);
  if (!has_data(t) || is_lost(*n, since)) return n->latest.site;
  const Region r = region_of(t);
  const Write* last = nullptr;
  for (const Place& place : n->places) {
    if (!place.written || before(place.latest.time, since) || (last && before(place.latest.time, last->time))) continue;
    if (!disjoint(r, place.region)) last = &place.latest;
  }
  touched = last != nullptr;
  return last ? last->site : n->latest.site;
}

}  // namespace retrograd
