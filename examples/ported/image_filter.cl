/* SPDX-License-Identifier: MIT */
/*
 * A Gaussian filter and a bilinear resize, by images and samplers. After chapter 8, "Images and
 * Samplers", of Munshi, Gaster, Mattson, Fung & Ginsburg, OpenCL Programming Guide, 2011. The
 * filter is separable: one pass along the rows, one along the columns.
 */

/* One work-item a pixel; `step` is (1, 0) along the rows. The sampler repeats the edge. */
kernel void blur(read_only image2d_t from, write_only image2d_t to, sampler_t edge,
                 constant float *weights, const int radius, const int2 step) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
  for (int k = -radius; k <= radius; k++)
    sum += weights[abs(k)] * read_imagef(from, edge, at + k * step);
  write_imagef(to, at, sum);
}

/* The sampler takes coordinates from 0 to 1, and interpolates. */
kernel void resize(read_only image2d_t from, write_only image2d_t to, sampler_t linear) {
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  const float2 size = (float2)(get_image_width(to), get_image_height(to));
  const float2 place = (convert_float2(at) + 0.5f) / size;
  write_imagef(to, at, read_imagef(from, linear, place));
}
