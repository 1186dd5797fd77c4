import { connect } from 'node:net';

/**
 * The HTTP load generator: keep-alive connections, one request at a time on each, on plain sockets, so that it uses as
 * little as possible of the machine that it shares with the server.
 */
export async function open({ host, port, headers = {} }) {
  const idle = [];
  const all = [];
  const take = async () => {
    const free = idle.pop();
    if (free !== undefined) return free;
    const opened = await HttpConnection.open(host, port, headers);
    all.push(opened);
    return opened;
  };
  return {
    deposit: async (id, amount) => {
      const connection = await take();
      const status = await connection.post(
        `/wallets/${id}/deposit`,
        `{"amount":"${amount}","recipient":"bench"}`,
      );
      idle.push(connection);
      if (status !== 200) throw Object.assign(new Error(connection.text), { code: `HTTP ${status}` });
    },
    close: async () => {
      for (const connection of all) connection.close();
    },
  };
}

class HttpConnection {
  #socket;
  /** With the line ends. */
  #headers;
  #waiting;
  #received = '';
  text = '';

  static open(host, port, headers) {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true }, () =>
        resolve(new HttpConnection(socket, { host: `${host}:${port}`, ...headers })),
      );
      socket.once('error', reject);
    });
  }

  constructor(socket, headers) {
    this.#socket = socket;
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The server has closed the connection')));
  }

  /** The status of the answer; its body is in `text`. */
  post(path, body) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(
        `POST ${path} HTTP/1.1\r\n${this.#headers}Content-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
  }

  close() {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(chunk) {
    this.#received += chunk;
    const headers = this.#received.indexOf('\r\n\r\n');
    if (headers < 0) return;
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1];
    if (length === undefined || this.#received.length < headers + 4 + Number(length)) return;
    this.text = this.#received.slice(headers + 4);
    const status = Number(this.#received.slice(9, 12));
    this.#received = '';
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(status);
  }
}
