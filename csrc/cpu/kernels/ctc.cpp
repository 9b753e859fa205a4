// Connectionist temporal classification: the likelihood of a sequence of labels under all its alignments, by the forward and backward
// recursions over the labels with blanks between them.
#include <cstdlib>

#include "cpu/families.h"
#include "cpu/parallel.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace {

using namespace RG_LEVEL_NS;

template <class F> void visit_ctc(DType dtype, F&& f) {
  if (dtype == DType::Float64) {
    f(double());
  } else {
    f(float());
  }
}

// The labels of one sequence with blanks before, between and behind them, and what the recursions need of each step. Rows of numbers have
// two places before and behind them that are never reached, so that neighbours need no question.
template <class T> class States {
 public:
  States(const CtcShape& shape, const Array& log_probs, const int64_t* targets, int64_t sample)
      : count_(2 * shape.host_target_lengths[sample] + 1), step_(log_probs.strides[0]), class_step_(log_probs.strides[2]) {
    const size_t room = static_cast<size_t>(2 * shape.longest + 1 + 4);
    classes_ = static_cast<int64_t*>(std::malloc(room * (sizeof(int64_t) + 4 * sizeof(T))));
    if (!classes_) std::abort();  // as the system itself does when memory it promised is not there
    emitted = reinterpret_cast<T*>(classes_ + room);
    skip_ = emitted + room;
    for (T* row : {rows[0] = skip_ + room, rows[1] = skip_ + 2 * room})
      for (size_t i = 0; i < room; ++i) row[i] = -kInf<T>;
    rows[0] += 2, rows[1] += 2;
    const int64_t* labels = targets + shape.host_target_starts[sample];
    for (int64_t s = 0; s < count_; ++s) classes_[s] = s % 2 ? labels[s / 2 * shape.target_step] : shape.blank;
    // From one label to the next without a blank: not where they are the same.
    for (int64_t s = 0; s < count_ + 2; ++s) skip_[s] = s >= 2 && s < count_ && classes_[s] != classes_[s - 2] ? T(0) : -kInf<T>;
    data_ = log_probs.ptr<const T>() + sample * log_probs.strides[1];
  }
  ~States() { std::free(classes_); }
  States(const States&) = delete;
  States& operator=(const States&) = delete;

  int64_t count() const { return count_; }
  int64_t class_of(int64_t s) const { return classes_[s]; }
  const T* skips() const { return skip_; }  // whether s may follow s - 2: 0 or -inf
  const T* at(int64_t t) const { return data_ + t * step_; }
  T of_class(int64_t t, int64_t c) const { return at(t)[c * class_step_]; }
  void emit(int64_t t) {
    const T* from = at(t);
    for (int64_t s = 0; s < count_; ++s) emitted[s] = from[classes_[s] * class_step_];
  }

  T* emitted;  // log probabilities of a step, by state
  T* rows[2];

 private:
  int64_t count_, step_, class_step_;
  int64_t* classes_;
  T* skip_;
  const T* data_;
};

// log(exp(a) + exp(b) + exp(c)), where all may be -inf.
template <class T> RG_INLINE T log_sum(T a, T b, T c) {
  const T high = max_(max_(a, b), c), by = high == -kInf<T> ? T(0) : high;
  return log_(exp_(a - by) + exp_(b - by) + exp_(c - by)) + by;
}

template <class T> T likelihood(const CtcShape& shape, const Array& log_probs, const int64_t* targets, int64_t sample, T* log_alpha) {
  States<T> states(shape, log_probs, targets, sample);
  const int64_t steps = shape.host_input_lengths[sample], n = states.count(), width = 2 * shape.longest + 1;
  for (int64_t i = 0; i < shape.steps * width; ++i) log_alpha[i] = -kInf<T>;
  if (steps == 0) return n == 1 ? T(0) : -kInf<T>;
  T *before = states.rows[0], *now = states.rows[1];
  const T *skip = states.skips(), *emitted = states.emitted;
  for (int64_t t = 0; t < steps; ++t) {
    states.emit(t);
    if (t == 0) {
      now[0] = emitted[0];
      if (n > 1) now[1] = emitted[1];
    } else {
      for (int64_t s = 0; s < n; ++s) now[s] = log_sum(before[s], before[s - 1], before[s - 2] + skip[s]) + emitted[s];
    }
    T* kept = log_alpha + t * width;
    for (int64_t s = 0; s < n; ++s) kept[s] = now[s];
    std::swap(before, now);
  }
  return log_sum(before[n - 1], n > 1 ? before[n - 2] : -kInf<T>, -kInf<T>);
}

template <class T>
void gradient(const CtcShape& shape, const Array& out, const Array& log_probs, const int64_t* targets, int64_t sample, const T* log_alpha,
              T loss, T grad) {
  States<T> states(shape, log_probs, targets, sample);
  const int64_t steps = shape.host_input_lengths[sample], n = states.count(), width = 2 * shape.longest + 1;
  T *after = states.rows[0], *now = states.rows[1];
  const T *skip = states.skips(), *emitted = states.emitted;
  T* to = out.ptr<T>() + sample * out.strides[1];
  for (int64_t t = steps - 1; t >= 0; --t) {
    states.emit(t);
    if (t == steps - 1) {
      now[n - 1] = emitted[n - 1];
      if (n > 1) now[n - 2] = emitted[n - 2];
    } else {
      for (int64_t s = 0; s < n; ++s) now[s] = log_sum(after[s], after[s + 1], after[s + 2] + skip[s + 2]) + emitted[s];
    }
    T* row = to + t * out.strides[0];
    for (int64_t c = 0; c < shape.classes; ++c) row[c] = exp_(states.of_class(t, c)) * grad;
    const T* alpha = log_alpha + t * width;
    // How likely it is to be in each state at this step: both recursions have the step itself.
    for (int64_t s = 0; s < n; ++s) {
      const T both = alpha[s] + now[s];
      if (both != -kInf<T>) row[states.class_of(s)] -= exp_(both - emitted[s] + loss) * grad;
    }
    std::swap(after, now);
  }
}

IndexError check_labels(const CtcShape& shape, const int64_t* targets) {
  for (int64_t i = 0; i < shape.batch; ++i)
    for (int64_t s = 0; s < shape.host_target_lengths[i]; ++s) {
      const int64_t label = targets[shape.host_target_starts[i] + s * shape.target_step];
      if (static_cast<uint64_t>(label) >= static_cast<uint64_t>(shape.classes)) return {false, 1, label, shape.classes};
    }
  return {};
}

IndexError ctc_loss(const CtcShape& shape, const Array& log_probs, const int64_t* targets, void* loss, void* log_alpha) {
  const IndexError error = check_labels(shape, targets);
  if (!error.ok) return error;
  visit_ctc(log_probs.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t each = shape.steps * (2 * shape.longest + 1);
    parallel_for(0, shape.batch, 4096 / (each + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        static_cast<T*>(loss)[i] = -likelihood(shape, log_probs, targets, i, static_cast<T*>(log_alpha) + i * each);
    });
  });
  return error;
}

void ctc_loss_backward(const CtcShape& shape, const Array& out, const Array& log_probs, const int64_t* targets, const void* loss,
                       const void* log_alpha, const void* grad, bool zero_infinity) {
  visit_ctc(log_probs.dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t each = shape.steps * (2 * shape.longest + 1);
    parallel_for(0, shape.batch, 4096 / (each + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T found = static_cast<const T*>(loss)[i], factor = static_cast<const T*>(grad)[i];
        const bool impossible = found == kInf<T>, nothing = impossible && zero_infinity;
        const int64_t steps = nothing ? 0 : shape.host_input_lengths[i];
        T* to = out.ptr<T>() + i * out.strides[1];
        for (int64_t t = 0; t < shape.steps; ++t)
          for (int64_t c = 0; c < shape.classes; ++c) to[t * out.strides[0] + c] = impossible && t < steps ? kNaN<T> : T(0);
        if (!impossible) gradient(shape, out, log_probs, targets, i, static_cast<const T*>(log_alpha) + i * each, found, factor);
      }
    });
  });
}

}  // namespace

RG_EXPORT_KERNELS(CtcKernels, ctc) = {.loss = Reporting<ctc_loss>::run, .backward = ctc_loss_backward};

}  // namespace retrograd::cpu
