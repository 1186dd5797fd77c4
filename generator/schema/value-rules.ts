/** What a field's tags ask of each of its values. */
export interface ValueRules {
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly integer?: true;
}

/** `numeric(precision, scale)`: digits in all, and after the point. */
export interface NumericType {
  readonly precision: number;
  readonly scale: number;
}
