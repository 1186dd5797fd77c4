/** Whether an attempt was applied; final. */
export type AttemptOutcome = 'committed' | 'void';
