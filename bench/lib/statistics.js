/** The quantile `part` (0 to 1) of the values; NaN without values. */
export function quantile(values, part) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** The median. */
export function median(values) {
  const sorted = [...values].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, minimum and maximum. */
export function summary(values) {
  const known = values.filter((value) => Number.isFinite(value));
  return { median: median(known), least: Math.min(...known), greatest: Math.max(...known) };
}
