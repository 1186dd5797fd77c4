import type { PublishOutcome } from '../relay-sink.js';

/** The outcome of a message that was not sent because an earlier one of its key was not accepted. */
export const BEHIND: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'an earlier message of its model was not accepted',
});

/** The outcome of a message that was not sent because the relay no longer waits for it. */
export const ABORTED: PublishOutcome = Object.freeze({ kind: 'deferred', reason: 'delivery is stopping' });
