import pg from 'pg';

/** Collects what one turn of the event loop brings, and what waits while calls are in flight, and hands it over together. */
export class Batcher {
  #limits;
  #send;
  #ready;
  #waiting = [];
  #inFlight = 0;
  #scheduled = false;

  /**
   * @param send gets the items of a batch, answers with one result each
   * @param options.ready whether an item may go now
   */
  constructor(limits, send, { ready = () => true } = {}) {
    this.#limits = limits;
    this.#send = send;
    this.#ready = ready;
  }

  add(item) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#sendSoon();
    });
  }

  #sendSoon() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#sendNext();
    });
  }

  #sendNext() {
    while (this.#inFlight < this.#limits.maximumInFlight && this.#waiting.length > 0) {
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      this.#run(batch);
    }
  }

  #take() {
    const batch = [];
    const left = [];
    for (const entry of this.#waiting) {
      (batch.length < this.#limits.maximumBatch && this.#ready(entry.item) ? batch : left).push(entry);
    }
    this.#waiting = left;
    return batch;
  }

  async #run(batch) {
    try {
      const results = await this.#send(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#inFlight -= 1;
    this.#sendNext();
  }
}

/** Everything stays text. */
const types = { getTypeParser: () => (text) => text };

/** Clients that are never in doubt: each has one caller at most, and nobody waits for one. */
export class Connections {
  #idle;

  /** As many as there may be statements in flight. */
  static async open(connection, { reads, writes }) {
    const count = reads.maximumInFlight + writes.maximumInFlight;
    const connections = new Connections();
    connections.#idle = Array.from({ length: count }, () => new pg.Client(connection));
    for (const client of connections.#idle) client.on('error', () => {});
    await Promise.all(connections.#idle.map((client) => client.connect()));
    return connections;
  }

  /** The rows of a statement that is prepared under a name, as arrays of texts. */
  async run(name, text, values) {
    const client = this.#idle.pop();
    try {
      const { rows } = await client.query({ name, text, values, rowMode: 'array', types });
      return rows;
    } finally {
      this.#idle.push(client);
    }
  }

  async close() {
    await Promise.all(this.#idle.map((client) => client.end()));
  }
}
