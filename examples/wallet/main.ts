import { fixedPrincipal } from 'fw-actions/http';
import { startServer } from './generated/server.js';

// Demo only: every request comes from one operator. A real service passes an authenticator that checks the request.
await startServer({ title: 'Wallets', authenticator: fixedPrincipal('wallet-demo', { role: 'operator' }) });
