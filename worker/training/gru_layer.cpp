// One GRU layer over token ids, forward and backward, for training on CPUs with bfloat16 matrix units.
//
// The decision that matters: everything of a time step but its matrix product is one pass over memory here, where
// PyTorch's own layer makes a dozen; matrix products are left to oneDNN. Since the input is a token, embedding x
// input weights is a table of [vocab, 3 * hidden] rows to gather from. Gate order and formulas are torch.nn.GRU's:
//   r = s(gi_r + gh_r), z = s(gi_z + gh_z), n = tanh(gi_n + r * gh_n), h' = n + z * (h - n).

#include <torch/extension.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

inline float widen(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

inline uint16_t narrow(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// exp with a relative error under 1e-5, in operations that every compiler vectorises.
inline float fast_exp(float x) {
  x = x < -80.f ? -80.f : (x > 80.f ? 80.f : x);
  float scaled = x * 1.44269504f;
  float whole = static_cast<float>(static_cast<int32_t>(scaled + (scaled < 0.f ? -0.5f : 0.5f)));
  float f = (scaled - whole) * 0.69314718f;
  float series = 1.f + f * (1.f + f * (0.5f + f * (0.16666667f + f * (0.041666667f + f * 0.0083333333f))));
  int32_t power = (static_cast<int32_t>(whole) + 127) << 23;
  float scale;
  std::memcpy(&scale, &power, 4);
  return series * scale;
}

inline float logistic(float x) { return 1.f / (1.f + fast_exp(-x)); }

uint16_t* raw(torch::Tensor& t) { return reinterpret_cast<uint16_t*>(t.data_ptr<at::BFloat16>()); }
const uint16_t* raw(const torch::Tensor& t) { return reinterpret_cast<const uint16_t*>(t.data_ptr<at::BFloat16>()); }

}  // namespace

// tokens [time, batch] i64; table [vocab, 3h], weight_t [h, 3h], bias [3h], all bf16.
// Gives states [time + 1, batch, h] (the first all zero) and saved [time, batch, 4h] = r, z, n, gh_n; bf16.
std::vector<torch::Tensor> forward(torch::Tensor tokens, torch::Tensor table, torch::Tensor weight_t, torch::Tensor bias) {
  const int64_t time = tokens.size(0), batch = tokens.size(1), h = weight_t.size(0);
  auto states = torch::zeros({time + 1, batch, h}, table.options());
  auto saved = torch::empty({time, batch, 4 * h}, table.options());
  auto gates = torch::empty({batch, 3 * h}, table.options());
  auto state = torch::zeros({batch, h}, torch::kFloat);
  const int64_t* ids = tokens.data_ptr<int64_t>();
  const uint16_t* b = raw(bias);
  for (int64_t t = 0; t < time; ++t) {
    auto previous = states.select(0, t);
    at::mm_out(gates, previous, weight_t);
    for (int64_t i = 0; i < batch; ++i) {
      const uint16_t* gi = raw(table) + ids[t * batch + i] * 3 * h;
      const uint16_t* gh = raw(gates) + i * 3 * h;
      float* hs = state.data_ptr<float>() + i * h;
      uint16_t* __restrict__ next = raw(states) + ((t + 1) * batch + i) * h;
      uint16_t* __restrict__ keep = raw(saved) + (t * batch + i) * 4 * h;
#pragma GCC ivdep
      for (int64_t j = 0; j < h; ++j) {
        float r = logistic(widen(gi[j]) + widen(gh[j]) + widen(b[j]));
        float z = logistic(widen(gi[h + j]) + widen(gh[h + j]) + widen(b[h + j]));
        float gh_n = widen(gh[2 * h + j]) + widen(b[2 * h + j]);
        float n = 2.f * logistic(2.f * (widen(gi[2 * h + j]) + r * gh_n)) - 1.f;
        float value = n + z * (hs[j] - n);
        hs[j] = value;
        next[j] = narrow(value);
        keep[j] = narrow(r);
        keep[h + j] = narrow(z);
        keep[2 * h + j] = narrow(n);
        keep[3 * h + j] = narrow(gh_n);
      }
    }
  }
  return {states, saved};
}

// grad_states [time, batch, h] bf16, the rest as above.
// weight_t is weight [3h, h] transposed, as above. Gives the gradients of table, weight and bias: f32 [vocab, 3h],
// [3h, h], [3h].
std::vector<torch::Tensor> backward(torch::Tensor grad_states, torch::Tensor tokens, torch::Tensor states,
                                    torch::Tensor saved, torch::Tensor weight_t, int64_t vocab) {
  const int64_t time = tokens.size(0), batch = tokens.size(1), h = weight_t.size(0);
  auto grad_table = torch::zeros({vocab, 3 * h}, torch::kFloat);
  auto grad_bias_n = torch::zeros({h}, torch::kFloat);
  auto grad_gates = torch::empty({time, batch, 3 * h}, weight_t.options());
  auto through = torch::zeros({batch, h}, weight_t.options());
  auto carry = torch::zeros({batch, h}, torch::kFloat);
  const int64_t* ids = tokens.data_ptr<int64_t>();
  auto weight = weight_t.t();
  float* bias_n = grad_bias_n.data_ptr<float>();
  for (int64_t t = time - 1; t >= 0; --t) {
    for (int64_t i = 0; i < batch; ++i) {
      const uint16_t* up = raw(grad_states) + (t * batch + i) * h;
      const uint16_t* back = raw(through) + i * h;
      const uint16_t* before = raw(states) + (t * batch + i) * h;
      const uint16_t* keep = raw(saved) + (t * batch + i) * 4 * h;
      float* direct = carry.data_ptr<float>() + i * h;
      float* __restrict__ row = grad_table.data_ptr<float>() + ids[t * batch + i] * 3 * h;
      uint16_t* __restrict__ out = raw(grad_gates) + (t * batch + i) * 3 * h;
#pragma GCC ivdep
      for (int64_t j = 0; j < h; ++j) {
        float r = widen(keep[j]), z = widen(keep[h + j]), n = widen(keep[2 * h + j]), gh_n = widen(keep[3 * h + j]);
        float d = widen(up[j]) + widen(back[j]) + direct[j];
        float dn = d * (1.f - z) * (1.f - n * n);
        float dz = d * (widen(before[j]) - n) * z * (1.f - z);
        float dr = dn * gh_n * r * (1.f - r);
        direct[j] = d * z;
        out[j] = narrow(dr);
        out[h + j] = narrow(dz);
        out[2 * h + j] = narrow(dn * r);
        row[j] += dr;
        row[h + j] += dz;
        row[2 * h + j] += dn;
        bias_n[j] += dn * r;
      }
    }
    if (t > 0) {
      auto step = grad_gates.select(0, t);
      at::mm_out(through, step, weight);
    }
  }
  // In chunks, and with the states transposed once: twice as fast as one product over the whole batch.
  const int64_t rows = time * batch, chunk = 1024;
  auto gates = grad_gates.view({rows, 3 * h});
  auto states_t = states.slice(0, 0, time).reshape({rows, h}).t().contiguous();
  auto grad_weight_t = torch::zeros({h, 3 * h}, torch::kFloat);
  for (int64_t i = 0; i < rows; i += chunk) {
    const int64_t end = std::min(rows, i + chunk);
    grad_weight_t += at::mm(states_t.slice(1, i, end), gates.slice(0, i, end));
  }
  auto sums = grad_table.sum(0);
  auto grad_bias = torch::cat({sums.slice(0, 0, 2 * h), grad_bias_n});
  return {grad_table, grad_weight_t.t(), grad_bias};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "GRU layer over tokens, forward");
  m.def("backward", &backward, "GRU layer over tokens, backward");
}
