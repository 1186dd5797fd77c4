/** Time limit of executions in tests that do not test time limits: calls may wait long on a busy machine. */
export const PATIENT = { timeoutMs: 60_000 } as const;
