import { ModelEvent } from 'fw-actions';
import type { Account } from './account.js';

export class AccountLocked extends ModelEvent<Account> {
  static now(): AccountLocked {
    return new this();
  }
}
