/** The refusal of a value. `reason` follows the value's label: `must be a UUID`. */
export class Refusal {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
