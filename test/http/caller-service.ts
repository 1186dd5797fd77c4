import { startServer } from '../../examples/wallet/generated/server.js';

/** The generated wallet. Callers name themselves in the header `x-caller`. */
await startServer({
  authenticator: ({ headers }) => ({ name: String(headers['x-caller']), claims: { role: 'operator' } }),
});
