import { RawConnection } from './raw-connection.js';

/** The outcomes of many clients' requests. */
export interface DrainTally {
  /** Requests answered with 200. */
  readonly done: number;
  /** Statuses of other answers. */
  readonly others: readonly number[];
  /**
   * Requests on a connection that then broke, or ended, without an answer; and connections that broke during their
   * handshake.
   */
  readonly lost: readonly string[];
}

/** The behaviour of the clients until the server stops listening. */
export interface DrainClients {
  readonly port: number;
  /** Default false. */
  readonly isEncrypted?: boolean;
  /** Bytes of one request. */
  readonly request: string;
  /** Clients that use a connection until the server closes it. */
  readonly keeping: number;
  /** Clients that connect for each request. */
  readonly connecting: number;
  /** Pauses between two requests of keep-alive clients, in milliseconds. */
  readonly pausesMs: readonly number[];
}

/** Clients that send one request after the other until they cannot connect any more. */
export class ClosedLoop {
  readonly #options: DrainClients;
  readonly #lost: string[] = [];
  readonly #others: number[] = [];
  #done = 0;

  constructor(options: DrainClients) {
    this.#options = options;
  }

  get done(): number {
    return this.#done;
  }

  /** Resolves when all clients have ended. */
  async run(): Promise<DrainTally> {
    const { keeping, connecting, pausesMs } = this.#options;
    const clients = [
      ...Array.from({ length: keeping }, () => this.#client(true, 0)),
      ...Array.from({ length: connecting }, () => this.#client(false, 0)),
      ...pausesMs.map((pauseMs) => this.#client(true, pauseMs)),
    ];
    await Promise.all(clients);
    return { done: this.#done, others: this.#others, lost: this.#lost };
  }

  async #client(keeps: boolean, pauseMs: number): Promise<void> {
    for (;;) {
      const connection = await this.#open();
      if (connection === undefined) return;
      await this.#use(connection, keeps, pauseMs);
      connection.socket.destroy();
    }
  }

  /** Undefined if the server no longer listens. */
  async #open(): Promise<RawConnection | undefined> {
    const { port, isEncrypted = false } = this.#options;
    try {
      return await RawConnection.open(port, { isEncrypted });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : error;
      if (code !== 'ECONNREFUSED') this.#lost.push(`handshake ${code}`);
      return undefined;
    }
  }

  /** Sends requests until the connection must be closed. */
  async #use(connection: RawConnection, keeps: boolean, pauseMs: number): Promise<void> {
    for (let sent = 1; !connection.closed; sent += 1) {
      connection.write(this.#options.request);
      const answer = (await connection.untilAnswers(sent))[sent - 1];
      if (answer === undefined) {
        this.#lost.push(`${keeps ? 'kept' : 'fresh'} ${sent} ${connection.error ?? 'ended'}`);
        return;
      }
      if (answer.status === 200) this.#done += 1;
      else this.#others.push(answer.status);
      if (!keeps || answer.headers.get('connection') === 'close') return;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
