-- SPDX-License-Identifier: MIT
--- Prices of options by the formula of Black and Scholes.

return {
  name = "black_scholes", title = "Black-Scholes",
  parameters = { { "price", "n", low = 10, high = 50 }, { "strike", "n", low = 10, high = 50 },
    { "years", "n", low = 0.2, high = 2 }, { "call", "n" }, { "put", "n" }, "n" },
  results = { "call", "put" },
  sizes = { quick = { n = 2000 }, full = { n = 100000 } },
  has_transcendental = true,
  run = function(price, strike, years, call, put, n)
    local function normal(x)
      local k = 1 / (1 + 0.2316419 * math.abs(x))
      local tail = 0.39894228 * math.exp(-0.5 * x * x)
        * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
      return x > 0 and 1 - tail or tail
    end
    for i = 1, n do
      local spread = 0.3 * math.sqrt(years[i])
      local d1 = (math.log(price[i] / strike[i]) + 0.065 * years[i]) / spread
      local d2 = d1 - spread
      local discounted = strike[i] * math.exp(-0.02 * years[i])
      local up, down = normal(d1), normal(d2)
      call[i] = price[i] * up - discounted * down
      put[i] = discounted * (1 - down) - price[i] * (1 - up)
    end
  end,
  c = [[
    real normal(real x) {
      const real k = 1 / (1 + 0.2316419 * fabs(x));
      const real tail = 0.39894228 * exp(-0.5 * x * x)
        * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
      return x > 0 ? 1 - tail : tail;
    }
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      const real spread = 0.3 * sqrt(years[i]);
      const real d1 = (log(price[i] / strike[i]) + 0.065 * years[i]) / spread, d2 = d1 - spread;
      const real discounted = strike[i] * exp(-0.02 * years[i]), up = normal(d1), down = normal(d2);
      call[i] = price[i] * up - discounted * down;
      put[i] = discounted * (1 - down) - price[i] * (1 - up);
    }]],
}
