/** Whether an attempt was applied, now and for ever. */
export type AttemptOutcome = 'committed' | 'void';
