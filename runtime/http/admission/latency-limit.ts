/** Parameters of the search for a limit. */
export interface LatencyLimitOptions {
  /** The initial limit. */
  readonly initial: number;
  /** The lowest limit. */
  readonly minimum: number;
  /** The highest limit. */
  readonly maximum: number;
  /** A mean latency up to this value never lowers the limit, in milliseconds. */
  readonly toleratedMs: number;
  /** A mean latency above this value is never tolerated, in milliseconds. */
  readonly longestMs: number;
  /** Minimum length of a window, in milliseconds. */
  readonly windowMs: number;
  /** Minimum number of samples in a window. */
  readonly leastSamples: number;
}

/** Tolerated latency, as a multiple of the latency at the lowest limit. */
const TOLERATED_RATIO = 2;
/** A window lowers the limit at most to this share, because a single stall of the process is no evidence of load. */
const STEEPEST = 0.7;
/** A limit that is used less than this share is not raised, because nothing is known about higher limits. */
const USED_SHARE = 0.8;

/**
 * Limits the number of requests in progress by their latency. While the mean latency of a window is tolerated, the
 * limit rises by its square root. Otherwise it falls by the gradient (tolerated / measured). By Little's law it settles
 * near capacity x tolerated latency on any machine. If the latency is too long even at the lowest limit, the load is
 * not its cause (a distant database, for example). Then twice that latency is tolerated.
 */
export class LatencyLimit {
  readonly #options: LatencyLimitOptions;
  #limit: number;
  /** Latency at the lowest limit, if it is too long. */
  #baseMs = 0;
  #windowSince = 0;
  #sumMs = 0;
  #count = 0;
  #mostInFlight = 0;
  #meanMs = 0;

  constructor(options: LatencyLimitOptions) {
    this.#options = options;
    this.#limit = options.initial;
  }

  /** A whole number. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Mean latency of the last window, in milliseconds; 0 before there is one. */
  get meanMs(): number {
    return this.#meanMs;
  }

  /**
   * Adds the latency of one request.
   *
   * @param inFlight requests in progress when it ended, itself included
   * @param nowMs monotonic time
   */
  record(latencyMs: number, inFlight: number, nowMs: number): void {
    if (this.#count === 0) this.#windowSince = nowMs;
    this.#count += 1;
    this.#sumMs += latencyMs;
    if (inFlight > this.#mostInFlight) this.#mostInFlight = inFlight;
    const { windowMs, leastSamples } = this.#options;
    if (this.#count >= leastSamples && nowMs - this.#windowSince >= windowMs) this.#endWindow();
  }

  #endWindow(): void {
    const { toleratedMs, longestMs, minimum, maximum } = this.#options;
    const meanMs = this.#sumMs / this.#count;
    this.#meanMs = meanMs;
    this.#baseMs = Math.min(this.#baseMs, meanMs);
    const bound = Math.min(longestMs, Math.max(toleratedMs, this.#baseMs * TOLERATED_RATIO));
    if (meanMs > bound) {
      if (this.#limit <= minimum) this.#baseMs = meanMs;
      this.#limit = Math.max(minimum, this.#limit * Math.max(STEEPEST, bound / meanMs));
    } else if (this.#mostInFlight >= this.#limit * USED_SHARE)
      this.#limit = Math.min(maximum, this.#limit + Math.sqrt(this.#limit));
    this.#count = 0;
    this.#sumMs = 0;
    this.#mostInFlight = 0;
  }
}
