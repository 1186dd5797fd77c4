import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs a function in the asynchronous context in which this module was loaded. A shared resource (a timer, a
 * connection, a listener) would otherwise run in the context of its first user, such as a `perform`, for all later users.
 */
export const outside: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
