/** What a process that generates again and again keeps between its runs. */
export type { LockDrafts } from './event-lock/lock-shapes.js';
export { SourceFiles } from './read/source-files.js';
