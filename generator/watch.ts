import { EmitMemory } from './emit/emit-memory.js';
import { ReadMemory } from './read/read-memory.js';

/** What one run leaves behind for the next one in the same process. */
export class RunMemory {
  readonly read: ReadMemory;
  readonly emit: EmitMemory = new EmitMemory();

  constructor(projectDirectory: string) {
    this.read = new ReadMemory(projectDirectory);
  }

  /** Forgets what changed files, new and vanished ones included, had a part in. @param files project-relative */
  forget(files: readonly string[]): void {
    this.read.forget(files);
  }
}
