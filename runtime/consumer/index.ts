/** The package's `./consumer` entry: for services that receive events. */
export { type EventSchema, readEventLock } from '../relay/schemas/event-lock.js';
export { EventSchemas } from './event-schemas.js';
export { Inbox, type InboxTable, type Reception } from './inbox.js';
export { type IncomingMessage, type ReceivedEvent, readMessage } from './received-event.js';
export { verifyWebhook } from './verify-webhook.js';
