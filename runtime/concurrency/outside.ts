import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Runs something in the asynchronous context in which this module was loaded. What many share (a timer, a listener)
 * would otherwise run in the context of whoever needed it first, such as some `perform`, for all others as well.
 */
export const outside: <T>(work: () => T) => T = AsyncLocalStorage.snapshot();
