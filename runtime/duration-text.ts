/** A duration for display: `250 ms`, `3.2 s`, `12 min`, `5.0 h`, `3 days`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
