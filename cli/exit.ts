/** Exit codes. */
export const EXIT: {
  readonly success: 0;
  /**
   * The state is not as expected: files that differ under `--check`, pending migrations, drift, a fault that `doctor`
   * found, an unreachable database.
   */
  readonly drift: 1;
  /** Mistakes in sources, configuration or command line. */
  readonly inputError: 2;
  /** A bug of this program. */
  readonly bug: 3;
} = { success: 0, drift: 1, inputError: 2, bug: 3 };

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The output streams. */
export interface Output {
  info(line: string): void;
  error(line: string): void;
  /** Replaces the progress line; '' clears it. Absent if the output is not a terminal. */
  readonly progress?: (text: string) => void;
}
