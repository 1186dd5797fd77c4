/** Preloaded by a process under test: moves its `Date` by `FW_TEST_SKEW_MS`. Monotonic time stays as it is. */
const skewMs = Number(process.env.FW_TEST_SKEW_MS);
const Real = Date;

globalThis.Date = class extends Real {
  constructor(...values) {
    super(...(values.length === 0 ? [Real.now() + skewMs] : values));
  }

  static now() {
    return Real.now() + skewMs;
  }
};
