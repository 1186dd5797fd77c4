/**
 * Finds the points at which one side of a PostgreSQL connection waits for the other. A run is the data up to such a
 * point: the messages of one request, or of one reply.
 */
export class WireFraming {
  readonly #endsRun: (type: string, body: Buffer) => boolean;
  /** The first message of a client has no type. */
  #untyped: boolean;
  #buffer: Buffer = Buffer.alloc(0);
  /** Offset of the first message that has not been parsed. */
  #position = 0;

  private constructor(endsRun: (type: string, body: Buffer) => boolean, untyped: boolean) {
    this.#endsRun = endsRun;
    this.#untyped = untyped;
  }

  /** For what the client sends. */
  static requests(): WireFraming {
    return new WireFraming((type) => REQUEST_ENDS.has(type), true);
  }

  /** For what the server sends. */
  static replies(): WireFraming {
    return new WireFraming(
      (type, body) => type === READY || (type === AUTHENTICATION && asksClient(body)),
      false,
    );
  }

  /** Adds received data. Returns the complete runs. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const runs: Buffer[] = [];
    for (let end = this.#nextMessage(); end !== undefined; end = this.#nextMessage()) {
      if (!end.endsRun) continue;
      runs.push(this.#buffer.subarray(0, this.#position));
      this.#buffer = this.#buffer.subarray(this.#position);
      this.#position = 0;
    }
    return runs;
  }

  /** The received bytes of an incomplete run. */
  takeRest(): Buffer {
    const rest = this.#buffer;
    this.#buffer = Buffer.alloc(0);
    this.#position = 0;
    return rest;
  }

  #nextMessage(): { readonly endsRun: boolean } | undefined {
    const header = this.#untyped ? 0 : 1;
    if (this.#buffer.length < this.#position + header + LENGTH_BYTES) return undefined;
    const end = this.#position + header + this.#buffer.readInt32BE(this.#position + header);
    if (this.#buffer.length < end) return undefined;
    const type = this.#untyped
      ? STARTUP
      : this.#buffer.toString('latin1', this.#position, this.#position + 1);
    const body = this.#buffer.subarray(this.#position + header + LENGTH_BYTES, end);
    this.#untyped = false;
    this.#position = end;
    return { endsRun: this.#endsRun(type, body) };
  }
}

const LENGTH_BYTES = 4;
const STARTUP = 'startup';
const READY = 'Z';
const AUTHENTICATION = 'R';
/** Start-up, password, simple query, sync and terminate. */
const REQUEST_ENDS: ReadonlySet<string> = new Set([STARTUP, 'p', 'Q', 'S', 'X']);
/** Authentication is complete (0), or the last SASL message before that (12). */
const NO_QUESTION: ReadonlySet<number> = new Set([0, 12]);

function asksClient(body: Buffer): boolean {
  return !NO_QUESTION.has(body.readInt32BE(0));
}
