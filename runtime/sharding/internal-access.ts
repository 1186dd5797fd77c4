/**
 * Marks a call of the runtime's own readers and writers, which may use a database where an application may not: inside
 * `perform`. Not exported from the package.
 */
export const INTERNAL_ACCESS: unique symbol = Symbol('internal access');
