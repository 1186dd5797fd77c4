import type { PublishOutcome } from '../relay-sink.js';

/** Of a message that was not sent, because an earlier one of its key was not taken. */
export const BEHIND: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'an earlier message of its model was not taken',
});

/** Of a message that was not sent, because the relay no longer waits for it. */
export const ABORTED: PublishOutcome = Object.freeze({ kind: 'deferred', reason: 'delivery ends' });
