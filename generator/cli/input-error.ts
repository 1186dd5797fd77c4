/** The input of a command is wrong: the message says why, and the process ends with 2. */
export class InputError extends Error {}

/** No database could be asked: the message says why, and the process ends with 1. */
export class UnreachableError extends Error {}
