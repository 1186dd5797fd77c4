import { fixedPrincipal } from 'fw-actions';
import { startServer } from './generated/server.js';

// A real service hands over an authenticator that looks at the request; here everybody is one operator.
await startServer({ title: 'Wallets', authenticator: fixedPrincipal('wallet-demo', { role: 'operator' }) });
