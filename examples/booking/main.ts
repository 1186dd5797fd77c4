import { fixedPrincipal } from 'fw-actions';
import { startServer } from './generated/server.js';

// A real service hands over an authenticator that looks at the request; here everybody is the same principal.
await startServer({ title: 'Bookings', authenticator: fixedPrincipal('booking-demo') });
