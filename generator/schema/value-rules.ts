/** Rules of a field's tags for its values. */
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

/** `numeric(precision, scale)`: total digits, and digits after the point. */
export interface NumericType {
  readonly precision: number;
  readonly scale: number;
}
