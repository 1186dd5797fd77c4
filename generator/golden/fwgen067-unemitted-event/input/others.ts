import { ModelEvent } from 'fw-actions';
import type { Account } from './account.js';

export class AccountRenamed extends ModelEvent<Account> {}

export class AccountMoved extends ModelEvent<Account> {}

/** @deprecated Emitted by the first release, which has stored it. */
export class AccountFrozen extends ModelEvent<Account> {}
