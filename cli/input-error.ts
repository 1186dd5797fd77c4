/** The input of a command is invalid: the message states the reason, and the exit code is 2. */
export class InputError extends Error {}
