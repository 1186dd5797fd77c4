import pg from 'pg';

/**
 * Collects the items of one turn of the event loop, and those that arrive while calls are in flight, and sends them
 * together.
 */
export class Batcher {
  #limits;
  #send;
  #ready;
  #waiting = [];
  #inFlight = 0;
  #lastSize = 0;
  #scheduled = false;

  /**
   * @param limits `maximumBatch` and `maximumInFlight`; from `aheadFrom` items on, a batch does not wait for the end of
   *   the turn; from `overlapFrom` items on (or half of the last batch, if that is more), it is sent while others are
   *   in flight
   * @param send receives the items of a batch, and returns one result each
   * @param {{ ready?: (item: any) => boolean }} [options] `ready`: whether an item may be sent now
   */
  constructor(limits, send, { ready = () => true } = {}) {
    this.#limits = limits;
    this.#send = send;
    this.#ready = ready;
  }

  add(item) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#inFlight === 0 && this.#waiting.length >= this.#enough(this.#limits.aheadFrom))
        this.#sendNext();
      else this.#sendSoon();
    });
  }

  /** The given number, or half of the last batch, if that is more. */
  #enough(least = Number.POSITIVE_INFINITY) {
    return Math.max(least, this.#lastSize / 2);
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
    const { maximumInFlight, overlapFrom = 0 } = this.#limits;
    while (this.#inFlight < maximumInFlight && this.#waiting.length > 0) {
      if (this.#inFlight > 0 && this.#waiting.length < this.#enough(overlapFrom)) return;
      const batch = this.#take();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      this.#lastSize = batch.length;
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

/** All values stay text. */
const types = { getTypeParser: () => (text) => text };

/**
 * Clients without concurrent statements: one for each read that may be in flight, and one for writes, which follow each
 * other.
 */
export class Connections {
  #idle;
  #writer;

  static async open(connection, { reads }) {
    const connections = new Connections();
    const config = { ...connection, options: '-c plan_cache_mode=force_generic_plan' };
    connections.#writer = new pg.Client({ ...config, pipeline: true });
    connections.#idle = Array.from({ length: reads.maximumInFlight }, () => new pg.Client(config));
    const clients = [connections.#writer, ...connections.#idle];
    for (const client of clients) client.on('error', () => {});
    await Promise.all(clients.map((client) => client.connect()));
    return connections;
  }

  /** The rows of a named prepared statement, as arrays of texts. */
  async read(name, text, values) {
    const client = this.#idle.pop();
    try {
      return await rowsOf(client, name, text, values);
    } finally {
      this.#idle.push(client);
    }
  }

  /** As `read`, pipelined behind the current statement. */
  write(name, text, values) {
    return rowsOf(this.#writer, name, text, values);
  }

  async close() {
    await Promise.all([this.#writer, ...this.#idle].map((client) => client.end()));
  }
}

async function rowsOf(client, name, text, values) {
  const { rows } = await client.query({ name, text, values, rowMode: 'array', types });
  return rows;
}
