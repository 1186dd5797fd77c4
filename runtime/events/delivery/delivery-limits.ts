/** Time limits of delivery, in milliseconds. */
export interface DeliveryLimits {
  /** A lease that is not renewed for this time expires, in milliseconds. Default: 5,000. */
  readonly leaseMs: number;
  /** Interval at which a process renews its leases and looks for free ones, in milliseconds. Default 1,000. */
  readonly surveyMs: number;
  /** Maximum time between two reads of the log if notifications arrive, in milliseconds. Default: 1,000. */
  readonly slowPollMs: number;
  /** Maximum time between two reads if notifications do not arrive (PgBouncer), in milliseconds. Default 25. */
  readonly fastPollMs: number;
}

export const DEFAULT_DELIVERY_LIMITS: DeliveryLimits = Object.freeze({
  leaseMs: 5_000,
  surveyMs: 1_000,
  slowPollMs: 1_000,
  fastPollMs: 25,
});
