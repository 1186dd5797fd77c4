/** The receivers of the relay: brokers that are already running, and a webhook server. */
import { createServer } from 'node:http';

const SECRET = Buffer.alloc(32, 1).toString('base64');

/**
 * Receivers by name. `open` creates a separate target for one measurement: `sink`, its configuration, and `follow`,
 * which calls back with the id of each later event.
 */
export const receivers = {
  kafka: {
    formats: ['structured', 'binary'],
    open: async ({ address, name }) => {
      const topic = `bench-${name}`;
      return {
        sink: { kafka: { brokers: [address], topic } },
        follow: (take) => followKafka(address, topic, take),
        close: async () => {},
      };
    },
  },
  nats: {
    formats: ['structured', 'binary'],
    open: async ({ address, name }) => {
      const { connect } = await import('@nats-io/transport-node');
      const { jetstreamManager } = await import('@nats-io/jetstream');
      const connection = await connect({ servers: [address] });
      const manager = await jetstreamManager(connection);
      await manager.streams.add({ name: `bench-${name}`, subjects: [`bench.${name}.>`] });
      return {
        sink: { nats: { servers: [address], subject: `bench.${name}.{model}` } },
        follow: async (take) => {
          const subscription = connection.subscribe(`bench.${name}.>`);
          void (async () => {
            for await (const message of subscription) take(message.headers?.get('Nats-Msg-Id'));
          })();
          return async () => subscription.unsubscribe();
        },
        close: async () => {
          await manager.streams.delete(`bench-${name}`);
          await connection.close();
        },
      };
    },
  },
  webhook: {
    /** Each message is a separate request. */
    mostEvents: 20_000,
    formats: ['structured'],
    open: async () => {
      let take = (_id) => {};
      const server = createServer((request, response) => {
        request.resume().once('end', () => {
          take(request.headers['webhook-id']);
          response.writeHead(204).end();
        });
      });
      await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
      const address = /** @type {import('node:net').AddressInfo} */ (server.address());
      return {
        sink: { webhook: { url: `http://127.0.0.1:${address.port}/`, secret: SECRET } },
        follow: async (heard) => {
          take = heard;
          return async () => {};
        },
        close: async () => {
          server.closeAllConnections();
          await new Promise((resolve) => server.close(resolve));
        },
      };
    },
  },
};

async function followKafka(address, topic, take) {
  const { Consumer, stringDeserializers } = await import('@platformatic/kafka');
  const consumer = new Consumer({
    groupId: topic,
    clientId: 'bench',
    bootstrapBrokers: [address],
    deserializers: stringDeserializers,
    autocreateTopics: true,
  });
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
  stream.on('data', ({ headers, value }) => take(headers.get('ce_id') ?? JSON.parse(value).id));
  return () => consumer.close(true);
}
