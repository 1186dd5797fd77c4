import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** A complete answer. */
export interface RawAnswer {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

/** A connection whose bytes the test controls. */
export class RawConnection {
  readonly socket: Socket;
  /** Complete answers, in order of arrival. */
  readonly answers: RawAnswer[] = [];
  /** Whether the server has ended the connection, or it is broken. */
  closed = false;
  /** Code of the error that broke it. */
  error: string | undefined;
  #bytes: Buffer = Buffer.alloc(0);

  private constructor(port: number, isEncrypted: boolean) {
    const address = { port, host: '127.0.0.1', allowHalfOpen: true };
    // Test certificates are self-signed.
    this.socket = isEncrypted ? connectSecurely({ ...address, rejectUnauthorized: false }) : connect(address);
    this.socket.on('data', (bytes) => this.#read(bytes));
    this.socket.on('end', () => this.#close());
    this.socket.on('close', () => this.#close());
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? error.message;
    });
  }

  /** Connects, over TLS if the port is encrypted. @throws the system's error */
  static async open(
    port: number,
    { isEncrypted = false }: { readonly isEncrypted?: boolean } = {},
  ): Promise<RawConnection> {
    const connection = new RawConnection(port, isEncrypted);
    await new Promise<void>((resolve, reject) => {
      connection.socket.once(isEncrypted ? 'secureConnect' : 'connect', resolve).once('error', reject);
    });
    return connection;
  }

  /** Sends these bytes on a new connection. Returns its answers once the server has closed it. */
  static async send(port: number, bytes: string): Promise<RawConnection> {
    const connection = await RawConnection.open(port);
    connection.socket.end(bytes);
    await connection.untilClosed();
    return connection;
  }

  write(bytes: string): void {
    this.socket.write(bytes);
  }

  statuses(): readonly number[] {
    return this.answers.map(({ status }) => status);
  }

  /** Waits until `count` answers have arrived, or the connection is closed. */
  async untilAnswers(count: number): Promise<readonly RawAnswer[]> {
    await this.#until(() => this.answers.length >= count || this.closed);
    return this.answers;
  }

  async untilClosed(): Promise<void> {
    await this.#until(() => this.closed);
    this.socket.destroy();
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #wake: () => void = () => {};

  #close(): void {
    this.closed = true;
    this.#wake();
  }

  #read(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (this.#readAnswer());
    this.#wake();
  }

  #readAnswer(): boolean {
    const end = this.#bytes.indexOf('\r\n\r\n');
    if (end === -1) return false;
    const [line = '', ...lines] = this.#bytes.toString('latin1', 0, end).split('\r\n');
    const headers = new Map(
      lines.map((header) => {
        const colon = header.indexOf(':');
        return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()] as const;
      }),
    );
    const length = Number(headers.get('content-length') ?? 0);
    const start = end + 4;
    if (this.#bytes.length < start + length) return false;
    const text = this.#bytes.toString('utf8', start, start + length);
    this.#bytes = this.#bytes.subarray(start + length);
    this.answers.push({ status: Number(line.split(' ')[1]), headers, text });
    return true;
  }
}
