import { fixedPrincipal } from 'fw-actions/http';
import { startServer } from './generated/server.js';

// Demo only: every request has the same principal. A real service passes an authenticator that checks the request.
await startServer({ title: 'Bookings', authenticator: fixedPrincipal('booking-demo') });
