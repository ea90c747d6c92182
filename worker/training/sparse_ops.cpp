// Scalar products of chosen pairs of rows, score[i] = left[a[i]] . right[b[i]], and sums of chosen rows, sum[b[i]] += rows[a[i]].
//
// The decision that matters: nothing is gathered. A batch of the policy network has some 200,000 pairs of a template and a
// site and as many of a site and an atom; PyTorch would copy a row for each, forwards and again backwards, and spend its
// time on memory. Here rows are read where they lie, and gradients are added where they belong.

#include <torch/extension.h>

#include <cstdint>

torch::Tensor scores(torch::Tensor left, torch::Tensor right, torch::Tensor a, torch::Tensor b) {
  const int64_t pairs = a.size(0), width = left.size(1);
  auto scores = torch::empty({pairs}, left.options());
  const float *x = left.data_ptr<float>(), *y = right.data_ptr<float>();
  const int64_t *at = a.data_ptr<int64_t>(), *bt = b.data_ptr<int64_t>();
  float *out = scores.data_ptr<float>();
  for (int64_t i = 0; i < pairs; ++i) {
    const float *u = x + at[i] * width, *v = y + bt[i] * width;
    float sum = 0.f;
    for (int64_t k = 0; k < width; ++k) sum += u[k] * v[k];
    out[i] = sum;
  }
  return scores;
}

std::vector<torch::Tensor> scores_gradients(torch::Tensor grad, torch::Tensor left, torch::Tensor right, torch::Tensor a,
                                    torch::Tensor b) {
  const int64_t pairs = a.size(0), width = left.size(1);
  auto left_grad = torch::zeros_like(left), right_grad = torch::zeros_like(right);
  const float *x = left.data_ptr<float>(), *y = right.data_ptr<float>(), *g = grad.data_ptr<float>();
  const int64_t *at = a.data_ptr<int64_t>(), *bt = b.data_ptr<int64_t>();
  float *dx = left_grad.data_ptr<float>(), *dy = right_grad.data_ptr<float>();
  for (int64_t i = 0; i < pairs; ++i) {
    const float weight = g[i];
    // Most templates of a batch are so improbable that they teach nothing.
    if (weight < 1e-9f && weight > -1e-9f) continue;
    const float *u = x + at[i] * width, *v = y + bt[i] * width;
    float *du = dx + at[i] * width, *dv = dy + bt[i] * width;
    for (int64_t k = 0; k < width; ++k) {
      du[k] += weight * v[k];
      dv[k] += weight * u[k];
    }
  }
  return {left_grad, right_grad};
}

// The gradient of sums(rows, a, b, count) by rows is sums(gradient, b, a, number of rows).
torch::Tensor sums(torch::Tensor rows, torch::Tensor a, torch::Tensor b, int64_t count) {
  const int64_t pairs = a.size(0), width = rows.size(1);
  auto out = torch::zeros({count, width}, rows.options());
  const float *x = rows.data_ptr<float>();
  const int64_t *at = a.data_ptr<int64_t>(), *bt = b.data_ptr<int64_t>();
  float *y = out.data_ptr<float>();
  for (int64_t i = 0; i < pairs; ++i) {
    const float *u = x + at[i] * width;
    float *v = y + bt[i] * width;
    for (int64_t k = 0; k < width; ++k) v[k] += u[k];
  }
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scores", &scores);
  m.def("scores_gradients", &scores_gradients);
  m.def("sums", &sums);
}
