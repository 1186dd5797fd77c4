/** The final outcome of an attempt: `committed` if it was applied, `void` if it can never be applied. */
export type AttemptOutcome = 'committed' | 'void';
