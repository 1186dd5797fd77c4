/** The value below which the given part (0 to 1) of the values lies; NaN of nothing. */
export function quantile(values, part) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

/** The middle value, or the mean of the two in the middle. */
export function median(values) {
  const sorted = [...values].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, least and greatest value. */
export function summary(values) {
  const known = values.filter((value) => Number.isFinite(value));
  return { median: median(known), least: Math.min(...known), greatest: Math.max(...known) };
}
