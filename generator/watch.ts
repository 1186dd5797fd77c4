/** What `--watch` needs besides `generate`. */
export { listSources } from './read/list-files.js';
export { SourceFiles } from './read/source-files.js';
