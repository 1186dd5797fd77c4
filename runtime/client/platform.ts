// The used parts of the platform, so that the compiler needs neither `lib: dom` nor the types of Node.js.

/** The second argument of `fetch`. */
export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  /**
   * The service does not redirect. `fetch` would send an API key to any origin, and follow by a GET, whose response would
   * look like that of the call.
   */
  redirect: 'manual';
  /** An `AbortSignal`. The type is `never`, because every `fetch` then accepts it. */
  signal: never;
}

/** What `fetch` resolves to. */
export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ByteReader } | null;
  text(): Promise<string>;
}

/** Reads a response as it arrives. */
interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
}

export interface Platform {
  readonly performance: { now(): number };
  readonly crypto: { getRandomValues(bytes: Uint8Array): Uint8Array };
  readonly AbortController: new () => { readonly signal: unknown; abort(): void };
  readonly TextDecoder: new () => { decode(bytes?: Uint8Array, options?: { stream: boolean }): string };
  readonly Request: new (url: string, init: Pick<FetchInit, 'method' | 'headers'>) => unknown;
  fetch(url: string, init: FetchInit): Promise<FetchResponse>;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

export const platform = globalThis as unknown as Platform;
