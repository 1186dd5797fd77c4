import type { ProjectPaths } from '../schema/paths.js';
import type { ReadMemory } from './read-memory.js';

/** What is read, where, and what is known already. */
export interface ReadRequest {
  readonly projectDirectory: string;
  readonly paths: ProjectPaths;
  readonly memory: ReadMemory;
}
