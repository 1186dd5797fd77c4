import { fixedPrincipal } from 'fw-actions';
import { startServer } from './generated/server.js';

await startServer({ authenticator: fixedPrincipal('orders') });
