/** What the process ends with. */
export const EXIT: {
  readonly success: 0;
  /**
   * Something is not as it should be: files that differ under `--check`, pending migrations, drift, a fault that
   * `doctor` found, a database out of reach.
   */
  readonly drift: 1;
  /** Mistakes in sources, configuration or command line. */
  readonly inputError: 2;
  /** A bug of this program. */
  readonly bug: 3;
} = { success: 0, drift: 1, inputError: 2, bug: 3 };

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Where lines go. */
export interface Output {
  info(line: string): void;
  error(line: string): void;
  /** Replaces the progress line; '' clears it. Absent if the output is no terminal. */
  readonly progress?: (text: string) => void;
}
