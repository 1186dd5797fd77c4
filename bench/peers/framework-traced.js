import '../lib/discarded-spans.js';

/** `framework` with spans. */
export { open } from './framework.js';
