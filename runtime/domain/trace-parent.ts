/** Version, trace id, parent id and flags of W3C Trace Context. Version `ff` and ids of only zeros are invalid. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * True for a W3C `traceparent` of 55 characters. A later version may append fields of any length. Such a text is
 * refused, because an accepted one is stored in every event.
 */
export function isTraceParent(text: string): boolean {
  return text.length === 55 && TRACE_PARENT.test(text);
}
