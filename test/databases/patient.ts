/** Time limits of executions in tests that are not about time: a busy machine may keep a call waiting. */
export const PATIENT = { timeoutMs: 60_000 } as const;
