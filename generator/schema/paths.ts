/** Where a generation reads and writes, relative to the project folder, with forward slashes. */
export interface ProjectPaths {
  /** Folder that all inputs lie in; '' is the project folder itself. */
  readonly source: string;
  /** Folder of emitted code. */
  readonly output: string;
  /** Folder of the application's migrations. */
  readonly migrations: string;
}
