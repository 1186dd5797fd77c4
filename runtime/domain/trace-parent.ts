/** Version, trace id, parent id and flags of W3C Trace Context; version `ff` and ids of zeros alone are invalid. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * True for a W3C `traceparent` of 55 characters. A later version may append fields of any length: such a text is
 * refused, because what is accepted is stored in every event.
 */
export function isTraceParent(text: string): boolean {
  return text.length === 55 && TRACE_PARENT.test(text);
}
