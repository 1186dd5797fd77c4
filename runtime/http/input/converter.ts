/** Checks one value and returns the action's value. Never called with null. */
export type Converter = (value: unknown) => unknown;
