import type { InputProblem } from '../problem.js';

/** The refusal of a value. */
export class Refusal {
  /** Follows the value's label: `must be a UUID`. Empty if parts of the value are refused. */
  readonly reason: string;
  /** Problems of its parts, with pointers that begin at the value. */
  readonly parts: readonly InputProblem[];

  constructor(reason: string, parts: readonly InputProblem[] = []) {
    this.reason = reason;
    this.parts = parts;
  }
}

/** Checks one value and returns the action's value, or a refusal. Never called with null. */
export type Converter = (value: unknown) => unknown;
