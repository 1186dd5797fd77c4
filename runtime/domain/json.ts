/** Any JSON value. Deeply readonly: models never change. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object, such as an event's payload. */
export type JsonObject = { readonly [key: string]: JsonValue };
