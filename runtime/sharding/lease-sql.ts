/**
 * SQL of leases: columns with the end of a lease and with its duration, both by the server's clock. The end alone is not
 * reliable: once the clock was set back, the lease of a holder that is gone would last for as long as that.
 *
 * Example: a lease of 10 s ends at 12:00:10. At 12:00:05 the clock is set back to 11:50. The lease now ends later than
 * any lease that could be given: it is cut to 11:50:10, before which a living holder renews it.
 */

/** The end of a lease that is given now. @param ms SQL of its duration in milliseconds */
export function leaseEnd(ms: string): string {
  return `clock_timestamp() + ${ms} * interval '1 ms'`;
}

/** Condition: the lease ends later than one that is given now, because the clock was set back. */
export function isTooLong(end: string, ms: string): string {
  return `${end} > ${leaseEnd(ms)}`;
}
