/** What a process that generates again and again keeps between its runs. */
export { SourceFiles } from './read/source-files.js';
