import { CallError, type Problem } from './call-error.js';
import { type FetchInit, type FetchResponse, platform } from './platform.js';
import { type Reader, read } from './readers.js';

/** An exact decimal in plain notation: `'150.5'`. */
export type Decimal = string;
/** A decimal parameter: text in plain notation, or a value of a decimal library whose `toJSON` returns it. */
export type DecimalInput = string | { toJSON(): string };
/** Accepts any text, such as one from a URL, but not the id of another model. */
export type Id<Model extends string> = string & { readonly idOf?: Model };

/** The service to call: plain data, created once. */
export interface Client {
  /** `https://wallet.example`, or '' for the page's origin. */
  readonly baseUrl: string;
  /** Headers of every request, such as `authorization`. A function is called before each attempt, within its time limit. */
  readonly headers?: HeaderMap | (() => HeaderMap | Promise<HeaderMap>) | undefined;
  /** Time limit of a call with all its attempts, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Time limit of one attempt, in milliseconds; then its connection counts as lost. Default 12,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Called before the pause that precedes each further attempt. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Default: the global `fetch`. */
  fetch?(url: string, init: FetchInit): Promise<FetchResponse>;
}

/** Headers of a request by name. */
type HeaderMap = Readonly<Record<string, string>>;

/** Why and when an attempt is repeated. */
export interface Retry {
  /** `POST https://wallet.example/wallets` */
  readonly request: string;
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: CallError;
}

/** Options of each call. */
export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. A write may have taken effect. */
  readonly signal?: Signal | undefined;
  /** Default: the client's. */
  readonly timeoutMs?: number | undefined;
  readonly headers?: HeaderMap | undefined;
}

/** Options of calls that change something. */
export interface WriteOptions extends CallOptions {
  /** Calls under the same key take effect at most once. Default: a new key for each call. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of calls that may require a version. */
export interface IfMatch {
  /** The version that the model must have; otherwise the call fails with `FW_PRECONDITION_FAILED`. */
  readonly ifMatch?: number | string | undefined;
}

/** Options of calls whose response may be known. */
export interface IfChanged<Answer> {
  /**
   * An earlier response. While the model still has its version, the call returns this object, and the service sends no
   * body.
   */
  readonly known?: Answer | undefined;
}

/** An `AbortSignal`. */
interface Signal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A route: its method, its path with parameters in braces, how responses are read, their status, the fields that they
 * always have (undefined: they have no body), and the field of its `ETag`. Without a status, any response is accepted.
 */
export type Route = readonly [
  method: string,
  path: string,
  reader?: Reader | undefined,
  status?: number,
  fields?: readonly string[] | undefined,
  etag?: string,
];

type AllOptions = WriteOptions & IfMatch & IfChanged<unknown>;

/** Calls a route, and retries after each failure that a retry may resolve. @throws CallError */
export async function call<Answer>(
  client: Client,
  route: Route,
  params: object,
  options: AllOptions = {},
): Promise<Answer> {
  const { known, ifMatch, signal } = options;
  const [method, path, , , , etag = ''] = route;
  const [url, body] = target(client, method, path, params);
  const idempotencyKey = method === 'GET' ? undefined : (options.idempotencyKey ?? newKey());
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  if (ifMatch !== undefined) headers['if-match'] = `"${ifMatch}"`;
  if (known) headers['if-none-match'] = `"${(known as Record<string, unknown>)[etag]}"`;
  const deadline = now() + (options.timeoutMs ?? client.timeoutMs ?? 30_000);
  // An earlier call may have used the caller's key, even one of a program that has ended since.
  let mayHaveTakenEffect = options.idempotencyKey !== undefined;
  for (let attempt = 1; ; attempt += 1) {
    const request = { method, url, headers, body };
    const limitMs = Math.min(deadline - now(), client.attemptTimeoutMs ?? 12_000);
    try {
      return (await answered(client, request, limitMs, { known, signal, route })) as Answer;
    } catch (failure) {
      if (!(failure instanceof CallError)) throw failure;
      if (idempotencyKey !== undefined) {
        const { problem, status, code } = failure;
        // Only the service knows that nothing was written: a proxy may have replaced its answer, whatever the status.
        if (!problem || (status >= 500 && status !== 503)) mayHaveTakenEffect = true;
        // The service has looked up the key before it refused, so no attempt has taken effect. It refuses input (400) and
        // shards before; and an attempt of another release may have used the key with other input (422).
        else if (SETTLING.includes(status) && !UNSETTLED.test(code)) mayHaveTakenEffect = false;
        Object.assign(failure, { idempotencyKey, mayHaveTakenEffect });
      }
      await pause(client, request, { attempt, error: failure, signal, deadline });
    }
  }
}

const SETTLING: readonly number[] = [404, 409, 412];
const UNSETTLED = /^(HTTP_|FW_KEY_BUSY|FW_UNKNOWN_SHARD)/;
const TRANSIENT: readonly number[] = [408, 429, 502, 503, 504];
const TRANSIENT_CODES: readonly string[] = ['CLIENT_NO_ANSWER', 'FW_KEY_BUSY', 'FW_STALE_MODEL'];

/** All items of a list, page by page, from the page of `cursor` on. */
export async function* itemsOf<Params extends { readonly cursor?: string | undefined }, Item>(
  params: Params,
  load: (params: Params) => Promise<{ readonly items: readonly Item[]; readonly next?: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  for (let cursor = params.cursor ?? null; ; ) {
    const { items, next = null } = await load(cursor === null ? params : { ...params, cursor });
    yield* items;
    if (next === null) return;
    cursor = next;
  }
}

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderMap;
  readonly body?: string | undefined;
}

/** The response of the route, or the known one. @throws CallError */
async function answered(
  client: Client,
  request: Request,
  limitMs: number,
  { known, signal, route }: Pick<AllOptions, 'known' | 'signal'> & { readonly route: Route },
): Promise<unknown> {
  const sent = await send(client, request, limitMs, signal);
  try {
    const { status } = sent.response;
    if (status === 304 && known) return known;
    // A browser shows a redirect that is not followed as status 0.
    if (status < 200 || status >= 300 || status !== (route[3] ?? status))
      throw await sent.inTime(errorOf(sent.response));
    return declaredValue(route, await sent.inTime(sent.response.text()), status);
  } catch (cause) {
    throw lost(request, signal, cause);
  } finally {
    sent.end();
  }
}

/**
 * Reads a body that the service may have written: an object with at least one of the declared fields. Servers of the
 * release before do not know each of them. @throws CallError
 */
function declaredValue([, , reader, declared, fields]: Route, text: string, status: number): unknown {
  try {
    if (text === '' && !fields) return undefined;
    const value: object = JSON.parse(text);
    const isDeclared = fields
      ? /^\s*\{/.test(text) && (fields.length === 0 || fields.some((field) => Object.hasOwn(value, field)))
      : declared === undefined;
    if (isDeclared) return read(reader, value);
  } catch {
    // Neither the service's JSON nor its values.
  }
  throw foreign(status);
}

/** A request whose response has begun. It ends when its time is over or its signal is aborted. */
export interface Sent {
  readonly response: FetchResponse;
  /** Rejects with undefined when the request ends: a `fetch` of the application may ignore its signal. */
  inTime<T>(work: Promise<T>): Promise<T>;
  /** Restarts the time limit. */
  postpone(): void;
  /** Frees the connection. */
  end(): void;
}

/** Timers with longer times fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @throws CallError if there is no response */
export async function send(
  client: Client,
  { method, url, headers, body }: Request,
  limitMs: number,
  signal: Signal | undefined,
): Promise<Sent> {
  const controller = new platform.AbortController();
  let giveUp = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  aborted.catch(() => {});
  const inTime = <T>(work: Promise<T>): Promise<T> => Promise.race([work, aborted]);
  const abort = (): void => {
    controller.abort();
    giveUp();
  };
  const start = (): unknown => platform.setTimeout(abort, Math.min(limitMs, LONGEST_TIMER_MS));
  let timer = start();
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  const postpone = (): void => {
    platform.clearTimeout(timer);
    timer = start();
  };
  const end = (): void => {
    platform.clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    abort();
  };
  try {
    const { headers: own, fetch = platform.fetch } = client;
    // A function that asks for a token may take longer than the attempt.
    const more = typeof own === 'function' ? await inTime(Promise.resolve(own())) : own;
    const init: FetchInit = {
      method,
      headers: { ...more, ...headers },
      redirect: 'manual',
      signal: controller.signal as never,
    };
    if (body !== undefined) init.body = body;
    // `fetch` would report a header or a URL that is not valid like a lost connection.
    if (fetch === platform.fetch) new platform.Request(url, { method, headers: init.headers });
    const fetched = fetch(url, init).catch((cause: unknown) => {
      throw lost({ method, url, headers }, signal, cause);
    });
    return { response: await inTime(fetched), inTime, postpone, end };
  } catch (failure) {
    end();
    throw failure ?? lost({ method, url, headers }, signal, undefined);
  }
}

/** The error of a broken request: the signal's reason, or that there is no response. */
export function lost({ method, url }: Request, signal: Signal | undefined, cause: unknown): unknown {
  if (signal?.aborted) return signal.reason;
  if (cause instanceof CallError) return cause;
  return new CallError('CLIENT_NO_ANSWER', `${method} ${url} got no response`, { cause });
}

/** The error of a failed response. */
export async function errorOf(response: FetchResponse): Promise<CallError> {
  const { status, headers } = response;
  const retryAfterMs = waitMs(headers.get('retry-after'));
  const text = await response.text();
  try {
    const problem: Problem = JSON.parse(text);
    const isOwn = headers.get('content-type')?.startsWith('application/problem+json');
    if (isOwn && problem.status === status && problem.type.startsWith('urn:fw-actions:problem:'))
      return new CallError(problem.code, problem.detail ?? problem.title, { status, problem, retryAfterMs });
  } catch {
    // A proxy between client and service has answered.
  }
  return foreign(status, retryAfterMs);
}

function foreign(status: number, retryAfterMs?: number): CallError {
  const message = `Status ${status} without a response of the service`;
  return new CallError('CLIENT_FOREIGN_ANSWER', message, { status, retryAfterMs });
}

/** A number of seconds, or a date. */
function waitMs(header: string | null): number | undefined {
  if (!header) return undefined;
  const ms = Number(header) * 1_000;
  return Number.isNaN(ms) ? Date.parse(header) - Date.now() || 0 : ms;
}

/** Waits before the next attempt, for a random time with a growing limit. @throws CallError if no attempt may follow */
export async function pause(
  client: Client,
  { method, url }: Request,
  { attempt, error, signal, deadline = Infinity }: Failure,
): Promise<void> {
  const { status, code, retryAfterMs = 0 } = error;
  const delayMs = Math.max(0, retryAfterMs) + Math.random() * Math.min(5_000, 100 * 2 ** attempt);
  const isTransient = TRANSIENT.includes(status) || TRANSIENT_CODES.includes(code);
  if (!isTransient || now() + delayMs >= deadline) throw error;
  client.onRetry?.({ request: `${method} ${url}`, attempt, delayMs, error });
  await new Promise<void>((resolve, reject) => {
    const done = (): void => {
      platform.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = platform.setTimeout(done, delayMs);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}

export interface Failure {
  /** From 1. */
  readonly attempt: number;
  readonly error: CallError;
  readonly signal: Signal | undefined;
  /** No attempt starts after this time. Default: no limit. */
  readonly deadline?: number;
}

/**
 * URL and body of a call: params that are not part of the path go into the query for GET and DELETE, else into the
 * body.
 */
export function target(
  client: Client,
  method: string,
  path: string,
  params: object,
): readonly [url: string, body: string | undefined] {
  const rest: Record<string, unknown> = { ...params };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = textOf(rest[name]);
    delete rest[name];
    // Any URL parser would interpret these as relative path segments, even if encoded.
    if (/^\.{0,2}$/.test(text)) throw new TypeError(`'${text}' cannot be the ${name} of ${path}`);
    return encodeURIComponent(text);
  });
  const url = client.baseUrl.replace(/\/$/, '') + filled;
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  if (given.length === 0) return [url, undefined];
  if (method !== 'GET' && method !== 'DELETE')
    return [url, JSON.stringify(rest, (_, value) => (typeof value === 'bigint' ? String(value) : value))];
  const query = given.flatMap(([name, value]) =>
    [value].flat().map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(textOf(each))}`),
  );
  return [`${url}?${query.join('&')}`, undefined];
}

/** A value in a path or a query. Dates and decimals have the same text as in JSON. */
function textOf(value: unknown): string {
  const text = (value as { toJSON?(): unknown }).toJSON?.() ?? value;
  return String(text);
}

function newKey(): string {
  const bytes = platform.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const now = (): number => platform.performance.now();
