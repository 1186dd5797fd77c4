/** Checks one value and gives what the action gets. Never called with null. */
export type Converter = (value: unknown) => unknown;
