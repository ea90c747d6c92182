// The layers of RXNMapper's ALBERT in bytes, for CPUs with AVX2: ten passes over one reaction's tokens.
//
// The decision that matters: ALBERT's layers share their weights, which as bytes are half a megabyte and stay in the second
// level cache, so one reaction at a time is as fast as a batch and nothing is padded. Weights are seven bits a value with a
// scale per output, inputs seven bits with a scale per token: two products of a pair of bytes then fit in sixteen bits and are
// added before they are widened. Everything else (attention, norms, GELU) is single precision.

#include <immintrin.h>
#include <torch/extension.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int kWidth = 256, kHeads = 8, kHeadWidth = 32, kInner = 512;
constexpr int kRows = 4;           // tokens a tile has
constexpr int kMiddle = 64;        // what an input of zero is stored as
constexpr float kLargest = 63.f;   // the largest byte, of inputs and of weights

using Floats = std::vector<float>;

// Weights as bytes, in the order the product reads them: 16 outputs, all their inputs in fours.
struct Linear {
  int inputs, outputs;
  std::vector<int8_t> bytes;
  Floats scale, shift, bias;

  Linear(const torch::Tensor& weight, const torch::Tensor& offset)
      : inputs(static_cast<int>(weight.size(1))), outputs(static_cast<int>(weight.size(0))) {
    const auto w = weight.contiguous();
    const float* values = w.data_ptr<float>();
    bytes.resize(static_cast<size_t>(inputs) * outputs);
    scale.resize(outputs);
    shift.resize(outputs);
    const auto b = offset.contiguous();
    bias.assign(b.data_ptr<float>(), b.data_ptr<float>() + outputs);
    for (int n = 0; n < outputs; ++n) {
      const float* row = values + static_cast<size_t>(n) * inputs;
      float largest = 1e-20f;
      for (int k = 0; k < inputs; ++k) largest = std::max(largest, std::fabs(row[k]));
      scale[n] = largest / kLargest;
      int sum = 0;
      for (int k = 0; k < inputs; ++k) {
        const auto byte = static_cast<int8_t>(std::lrintf(row[k] / scale[n]));
        sum += byte;
        const size_t group = static_cast<size_t>(n / 16) * (inputs / 4) + k / 4;
        bytes[group * 64 + (n % 16) * 4 + k % 4] = byte;
      }
      shift[n] = static_cast<float>(kMiddle * sum);
    }
  }
};

struct Norm {
  Floats gain, bias;
  Norm(const torch::Tensor& g, const torch::Tensor& b)
      : gain(g.data_ptr<float>(), g.data_ptr<float>() + g.numel()), bias(b.data_ptr<float>(), b.data_ptr<float>() + b.numel()) {}
};

inline float fast_exp(float x) {
  x = x < -80.f ? -80.f : x;
  const float scaled = x * 1.44269504f;
  const float whole = std::floor(scaled + 0.5f);
  const float f = (scaled - whole) * 0.69314718f;
  const float series = 1.f + f * (1.f + f * (0.5f + f * (0.16666667f + f * (0.041666667f + f * (0.0083333333f + f * 0.0013888889f)))));
  const int32_t power = (static_cast<int32_t>(whole) + 127) << 23;
  float factor;
  std::memcpy(&factor, &power, 4);
  return series * factor;
}

// GELU by the error function (Abramowitz and Stegun 7.1.26, within 1.5e-7).
inline float gelu(float x) {
  const float z = std::fabs(x) * 0.70710678f;
  const float t = 1.f / (1.f + 0.3275911f * z);
  const float series = t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float half = 0.5f * series * fast_exp(-z * z);
  return x * (x < 0.f ? half : 1.f - half);
}

void quantise(const float* values, int width, uint8_t* bytes, float* scale) {
  float largest = 1e-20f;
  for (int k = 0; k < width; ++k) largest = std::max(largest, std::fabs(values[k]));
  const float factor = kLargest / largest;
  for (int k = 0; k < width; ++k) bytes[k] = static_cast<uint8_t>(static_cast<int32_t>(values[k] * factor + (kMiddle + 0.5f)));
  *scale = largest / kLargest;
}

// kRows tokens times 16 outputs.
inline void tile(const uint8_t* in, int inputs, const int8_t* weights, __m256i sums[kRows][2]) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  for (int k = 0; k < inputs; k += 8) {
    const auto* w = reinterpret_cast<const __m256i*>(weights + static_cast<size_t>(k) * 16);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const __m256i w0 = _mm256_loadu_si256(w + half), w1 = _mm256_loadu_si256(w + 2 + half);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        int32_t four[2];
        std::memcpy(four, in + static_cast<size_t>(r) * inputs + k, 8);
        const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_set1_epi32(four[0]), w0),
                                               _mm256_maddubs_epi16(_mm256_set1_epi32(four[1]), w1));
        sums[r][half] = _mm256_add_epi32(sums[r][half], _mm256_madd_epi16(pairs, ones));
      }
    }
  }
}

// out[token][output] of all tokens, whose number is a multiple of kRows.
void product(const Linear& linear, const uint8_t* in, const float* scales, int tokens, float* out) {
  for (int n = 0; n < linear.outputs; n += 16) {
    const int8_t* weights = linear.bytes.data() + static_cast<size_t>(n) * linear.inputs;
    for (int t = 0; t < tokens; t += kRows) {
      __m256i sums[kRows][2];
      tile(in + static_cast<size_t>(t) * linear.inputs, linear.inputs, weights, sums);
      for (int r = 0; r < kRows; ++r) {
        for (int half = 0; half < 2; ++half) {
          const int at = n + half * 8;
          const __m256 whole = _mm256_sub_ps(_mm256_cvtepi32_ps(sums[r][half]), _mm256_loadu_ps(linear.shift.data() + at));
          const __m256 scale = _mm256_mul_ps(_mm256_loadu_ps(linear.scale.data() + at), _mm256_set1_ps(scales[t + r]));
          _mm256_storeu_ps(out + static_cast<size_t>(t + r) * linear.outputs + at,
                           _mm256_fmadd_ps(whole, scale, _mm256_loadu_ps(linear.bias.data() + at)));
        }
      }
    }
  }
}

void normalise(float* values, const Norm& norm) {
  float sum = 0.f, squares = 0.f;
  for (int k = 0; k < kWidth; ++k) sum += values[k];
  const float mean = sum / kWidth;
  for (int k = 0; k < kWidth; ++k) squares += (values[k] - mean) * (values[k] - mean);
  const float factor = 1.f / std::sqrt(squares / kWidth + 1e-12f);
  for (int k = 0; k < kWidth; ++k) values[k] = (values[k] - mean) * factor * norm.gain[k] + norm.bias[k];
}

// Scores of kRows queries against all keys: `keys` is [kHeadWidth][padded], of which `padded` is a multiple of 16.
void scores_of(const float* queries, const float* keys, int padded, float* scores) {
  for (int j = 0; j < padded; j += 16) {
    __m256 sums[kRows][2];
    for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_ps();
    for (int d = 0; d < kHeadWidth; ++d) {
      const __m256 k0 = _mm256_loadu_ps(keys + static_cast<size_t>(d) * padded + j);
      const __m256 k1 = _mm256_loadu_ps(keys + static_cast<size_t>(d) * padded + j + 8);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m256 q = _mm256_set1_ps(queries[r * kHeadWidth + d]);
        sums[r][0] = _mm256_fmadd_ps(q, k0, sums[r][0]);
        sums[r][1] = _mm256_fmadd_ps(q, k1, sums[r][1]);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      _mm256_storeu_ps(scores + static_cast<size_t>(r) * padded + j, sums[r][0]);
      _mm256_storeu_ps(scores + static_cast<size_t>(r) * padded + j + 8, sums[r][1]);
    }
  }
}

// Softmax without its division: the sum is given back.
float exponentiate(float* scores, int tokens, float sharpness) {
  float largest = scores[0], sum = 0.f;
  for (int j = 0; j < tokens; ++j) largest = std::max(largest, scores[j]);
  for (int j = 0; j < tokens; ++j) {
    scores[j] = fast_exp((scores[j] - largest) * sharpness);
    sum += scores[j];
  }
  return sum;
}

// Two tokens' mixtures of all values of a head, to rows of `out`.
void mix_two(const float* weights, int padded, const float* values, int tokens, const float sums[2], float* out) {
  __m256 mixed[2][4];
  for (auto& row : mixed)
    for (auto& part : row) part = _mm256_setzero_ps();
  for (int j = 0; j < tokens; ++j) {
    const __m256 w0 = _mm256_set1_ps(weights[j]), w1 = _mm256_set1_ps(weights[padded + j]);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
      const __m256 v = _mm256_loadu_ps(values + static_cast<size_t>(j) * kHeadWidth + part * 8);
      mixed[0][part] = _mm256_fmadd_ps(w0, v, mixed[0][part]);
      mixed[1][part] = _mm256_fmadd_ps(w1, v, mixed[1][part]);
    }
  }
  for (int r = 0; r < 2; ++r)
    for (int part = 0; part < 4; ++part)
      _mm256_storeu_ps(out + r * kWidth + part * 8, _mm256_mul_ps(mixed[r][part], _mm256_set1_ps(1.f / sums[r])));
}

class Layers {
 public:
  Layers(std::vector<torch::Tensor> w)
      : query_key_value_(w[0], w[1]), mix_(w[2], w[3]), attention_norm_(w[4], w[5]), inner_(w[6], w[7]), outer_(w[8], w[9]),
        layer_norm_(w[10], w[11]) {}

  // The hidden states [tokens, 256] after `passes` layers.
  torch::Tensor run(const torch::Tensor& hidden, int passes) {
    const int tokens = static_cast<int>(hidden.size(0));
    const int rows = (tokens + kRows - 1) / kRows * kRows;
    state_.assign(static_cast<size_t>(rows) * kWidth, 0.f);
    std::memcpy(state_.data(), hidden.contiguous().data_ptr<float>(), sizeof(float) * tokens * kWidth);
    joint_.resize(static_cast<size_t>(rows) * 3 * kWidth);
    wide_.resize(static_cast<size_t>(rows) * kInner);
    mixed_.assign(static_cast<size_t>(rows) * kWidth, 0.f);
    bytes_.resize(static_cast<size_t>(rows) * kInner);
    scales_.resize(rows);
    for (int pass = 0; pass < passes; ++pass) layer(tokens, rows);
    auto out = torch::empty({tokens, kWidth});
    std::memcpy(out.data_ptr<float>(), state_.data(), sizeof(float) * tokens * kWidth);
    return out;
  }

 private:
  void layer(int tokens, int rows) {
    apply(query_key_value_, state_, rows, joint_);
    attend(tokens, rows);
    apply(mix_, mixed_, rows, wide_);
    add_and_normalise(wide_, rows, attention_norm_);
    apply(inner_, state_, rows, wide_);
    for (float& value : wide_) value = gelu(value);
    apply(outer_, wide_, rows, mixed_);
    add_and_normalise(mixed_, rows, layer_norm_);
  }

  void apply(const Linear& linear, const Floats& in, int rows, Floats& out) {
    for (int t = 0; t < rows; ++t)
      quantise(in.data() + static_cast<size_t>(t) * linear.inputs, linear.inputs, bytes_.data() + static_cast<size_t>(t) * linear.inputs, &scales_[t]);
    product(linear, bytes_.data(), scales_.data(), rows, out.data());
  }

  void add_and_normalise(const Floats& added, int rows, const Norm& norm) {
    for (int t = 0; t < rows; ++t) {
      float* state = state_.data() + static_cast<size_t>(t) * kWidth;
      const float* more = added.data() + static_cast<size_t>(t) * kWidth;
      for (int k = 0; k < kWidth; ++k) state[k] += more[k];
      normalise(state, norm);
    }
  }

  // Queries and values of a head beside each other, keys turned: strides of whole pages would share few cache lines.
  void gather(int head, int tokens, int rows, int padded) {
    const float* base = joint_.data() + head * kHeadWidth;
    for (int t = 0; t < rows; ++t) {
      const float* row = base + static_cast<size_t>(t) * 3 * kWidth;
      std::memcpy(queries_.data() + t * kHeadWidth, row, sizeof(float) * kHeadWidth);
      std::memcpy(values_.data() + t * kHeadWidth, row + 2 * kWidth, sizeof(float) * kHeadWidth);
      if (t >= tokens) continue;
      for (int d = 0; d < kHeadWidth; ++d) keys_[static_cast<size_t>(d) * padded + t] = row[kWidth + d];
    }
  }

  void attend(int tokens, int rows) {
    const int padded = (tokens + 15) / 16 * 16;
    const float sharpness = 1.f / std::sqrt(static_cast<float>(kHeadWidth));
    keys_.assign(static_cast<size_t>(kHeadWidth) * padded, 0.f);
    queries_.resize(static_cast<size_t>(rows) * kHeadWidth);
    values_.resize(static_cast<size_t>(rows) * kHeadWidth);
    scores_.resize(static_cast<size_t>(kRows) * padded);
    for (int head = 0; head < kHeads; ++head) {
      gather(head, tokens, rows, padded);
      for (int t = 0; t < rows; t += kRows) {
        scores_of(queries_.data() + t * kHeadWidth, keys_.data(), padded, scores_.data());
        for (int r = 0; r < kRows; r += 2) {
          float* first = scores_.data() + static_cast<size_t>(r) * padded;
          const float sums[2] = {exponentiate(first, tokens, sharpness), exponentiate(first + padded, tokens, sharpness)};
          mix_two(first, padded, values_.data(), tokens, sums, mixed_.data() + static_cast<size_t>(t + r) * kWidth + head * kHeadWidth);
        }
      }
    }
  }

  Linear query_key_value_, mix_;
  Norm attention_norm_;
  Linear inner_, outer_;
  Norm layer_norm_;
  Floats state_, joint_, wide_, mixed_, queries_, keys_, values_, scores_, scales_;
  std::vector<uint8_t> bytes_;
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  py::class_<Layers>(m, "Layers").def(py::init<std::vector<torch::Tensor>>()).def("run", &Layers::run);
}
