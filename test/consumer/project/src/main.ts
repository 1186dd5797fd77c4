import { fixedPrincipal } from 'fw-actions/http';
import { startServer } from './generated/server.js';

await startServer({ authenticator: fixedPrincipal('orders') });
