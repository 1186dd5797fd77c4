import type { EventPage, EventRecord, JsonValue, Uuid } from 'fw-actions';

/** One event of a wallet's history as callers see it. */
export class WalletEventResponse {
  readonly id: Uuid;
  readonly actionId: Uuid;
  readonly eventType: string;
  readonly payload: JsonValue;
  /** Version of the wallet that the change produced. */
  readonly modelVersion: number;
  readonly createdDate: Date;

  private constructor(event: EventRecord) {
    this.id = event.id;
    this.actionId = event.actionId;
    this.eventType = event.eventType;
    this.payload = event.payload;
    this.modelVersion = event.modelVersion;
    this.createdDate = event.createdDate;
  }

  static from(event: EventRecord): WalletEventResponse {
    return new WalletEventResponse(event);
  }
}

/** One page of a wallet's history, oldest first. */
export class WalletEventPageResponse {
  readonly items: readonly WalletEventResponse[];
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null;
  /** Start of the complete history: older events may have been deleted. Null: the history is complete. */
  readonly completeFrom: Date | null;

  private constructor(page: EventPage) {
    this.items = page.items.map(WalletEventResponse.from);
    this.next = page.next;
    this.completeFrom = page.completeFrom;
  }

  static from(page: EventPage): WalletEventPageResponse {
    return new WalletEventPageResponse(page);
  }
}
