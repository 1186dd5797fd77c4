/** Exit codes. */
export const EXIT = {
  success: 0,
  /**
   * The state is not as expected: files that differ under `--check`, pending migrations, drift, a fault that `doctor`
   * found, an unreachable database.
   */
  drift: 1,
  /** Mistakes in sources, configuration or command line. */
  inputError: 2,
  /** A bug of this program. */
  bug: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The output streams. */
export interface Output {
  info(line: string): void;
  error(line: string): void;
  /** Replaces the progress line; '' clears it. Absent if the output is not a terminal. */
  readonly progress?: (text: string) => void;
}
