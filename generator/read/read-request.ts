import type { ProjectPaths } from '../schema/paths.js';
import type { ReadMemory } from './read-memory.js';

/** The input of a read: where the sources are, and results that are known. */
export interface ReadRequest {
  readonly projectDirectory: string;
  readonly paths: ProjectPaths;
  readonly memory: ReadMemory;
}
