import {
  type CallOptions,
  type Client,
  errorOf,
  lost,
  pause,
  type Request,
  type Sent,
  send,
  target,
} from './call.js';
import { CallError } from './call-error.js';
import { platform } from './platform.js';
import { date, read } from './readers.js';

/** Options of a stream. */
export interface FollowOptions extends Pick<CallOptions, 'signal'> {
  /** The stream begins after this version of the model. Default 0: with the first event. */
  readonly after?: number | undefined;
  /** A connection without data for this time counts as lost, in milliseconds. Default 45,000. */
  readonly silenceMs?: number | undefined;
}

/** An event of the stream. The payload is the stored JSON of its version. */
export interface StreamedEvent<Type extends string, Payload> {
  readonly id: string;
  readonly eventType: Type;
  readonly eventVersion: number;
  readonly modelVersion: number;
  readonly payload: Payload;
  readonly createdDate: Date;
}

/**
 * The events of a model as they happen, without an end. Reconnects after the last event whenever the connection is
 * lost.
 * @throws CallError if the service refuses the stream; the error of the client's `headers`
 */
export async function* follow<Event extends StreamedEvent<string, unknown>>(
  client: Client,
  path: string,
  params: object,
  { signal, after = 0, silenceMs = 45_000 }: FollowOptions = {},
): AsyncGenerator<Event, void, undefined> {
  const [url] = target(client, 'GET', path, params);
  let last = after;
  /** The events of one change have the same version, and a stream may be cut off between them. */
  const seen = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    const headers = { accept: 'text/event-stream', 'last-event-id': String(Math.max(after, last - 1)) };
    const request: Request = { method: 'GET', url, headers };
    let sent: Sent | undefined;
    let failure: unknown;
    try {
      sent = await send(client, request, silenceMs, signal);
      const { status, headers: given } = sent.response;
      const isStream = given.get('content-type')?.startsWith('text/event-stream') === true;
      if (status !== 200 || !isStream) throw await sent.inTime(errorOf(sent.response));
      for await (const event of eventsOf<Event>(sent)) {
        attempt = 1;
        if (seen.has(event.id)) continue;
        if (event.modelVersion > last) seen.clear();
        last = event.modelVersion;
        seen.add(event.id);
        yield event;
      }
    } catch (cause) {
      // Not the connection's: the client's `headers` have failed, or the request is not valid.
      if (sent === undefined && !(cause instanceof CallError)) throw cause;
      failure = cause;
    } finally {
      sent?.end();
    }
    const error = lost(request, signal, failure);
    if (!(error instanceof CallError)) throw error;
    await pause(client, request, { attempt, error, signal });
  }
}

/** Server-sent events are blocks of lines, each followed by an empty line. */
async function* eventsOf<Event>({
  response,
  postpone,
  inTime,
}: Sent): AsyncGenerator<Event, void, undefined> {
  const reader = response.body?.getReader();
  const decoder = new platform.TextDecoder();
  let text = '';
  if (reader === undefined) return;
  for (let part = await inTime(reader.read()); !part.done; part = await inTime(reader.read())) {
    postpone();
    const blocks = (text + decoder.decode(part.value, { stream: true })).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield read({ createdDate: date }, JSON.parse(data)) as Event;
    }
  }
}
