import {
  Action,
  type Clock,
  type Default,
  type EventHistory,
  type EventPage,
  FwAction,
  HttpRoute,
  type Id,
  type Principal,
} from 'fw-actions';
import type { NoteRepository } from './generated/note.js';
import type { Note } from './note.js';

/** A note as callers see it. */
export class NoteResponse {
  readonly id!: Id<Note>;
  readonly text!: string;
  readonly due!: Date;
  readonly version!: number;

  static from({ id, text, due, version }: Note): NoteResponse {
    return { id, text, due, version };
  }
}

export class NotePageResponse {
  readonly items!: readonly NoteResponse[];
  readonly next!: string | null;

  static from(page: NotePageResponse): NotePageResponse {
    return page;
  }
}

export class CountResponse {
  readonly count!: bigint;

  static from(count: bigint): CountResponse {
    return { count };
  }
}

export interface NoteParams {
  readonly noteId: Id<Note>;
}

export interface NoteEditParams extends NoteParams {
  /** What it says from now on. */
  readonly text: string;
  readonly due?: Date | null;
}

abstract class NoteAction<Params> extends Action<Params, Note> {
  readonly notes: NoteRepository;

  constructor(clock: Clock, notes: NoteRepository) {
    super(clock);
    this.notes = notes;
  }
}

/** Shows a note. */
@FwAction
@HttpRoute('GET', '/notes/{noteId}', { response: NoteResponse, etag: 'version' })
export class NoteGetAction extends NoteAction<NoteParams> {
  protected async perform(_principal: Principal, { noteId }: NoteParams): Promise<Note> {
    return await this.notes.getById(noteId.getValue());
  }
}

/** Writes a note anew. */
@FwAction
@HttpRoute('PUT', '/notes/{noteId}', { response: NoteResponse, etag: 'version', ifMatch: 'noteId' })
export class NoteEditAction extends NoteAction<NoteEditParams> {
  protected async perform(_principal: Principal, { noteId }: NoteEditParams): Promise<Note> {
    return await this.notes.getById(noteId.getValue());
  }
}

@FwAction
@HttpRoute('DELETE', '/notes/{noteId}')
export class DeleteAction extends NoteAction<NoteParams> {
  protected async perform(_principal: Principal, { noteId }: NoteParams): Promise<Note> {
    return await this.notes.getById(noteId.getValue());
  }
}

export interface NoteListParams {
  readonly done?: boolean;
  readonly tags?: readonly string[];
  /** @default 50 */
  readonly limit: Default<number>;
  readonly cursor?: string;
}

/** Lists notes. */
@FwAction
@HttpRoute('GET', '/notes', { response: NotePageResponse })
export class NoteListAction extends Action<NoteListParams, NotePageResponse> {
  protected perform(): NotePageResponse {
    return { items: [], next: null };
  }
}

@FwAction
@HttpRoute('GET', '/count', { response: CountResponse })
export class NoteCountAction extends Action<void, bigint> {
  protected perform(): bigint {
    return 1n;
  }
}

export class HistoryResponse {
  readonly versions!: readonly number[];

  static from({ items }: EventPage): HistoryResponse {
    return { versions: items.map(({ modelVersion }) => modelVersion) };
  }
}

/** What happened to a note. */
@FwAction
@HttpRoute('GET', '/notes/{noteId}/events', { response: HistoryResponse, feed: 'noteId' })
export class NoteHistoryAction extends Action<NoteParams, EventPage> {
  readonly #history: EventHistory;

  constructor(clock: Clock, history: EventHistory) {
    super(clock);
    this.#history = history;
  }

  protected async perform(_principal: Principal, { noteId }: NoteParams): Promise<EventPage> {
    return await this.#history.of(noteId, {});
  }
}

/** Its name without the suffix is a word of the language. */
@FwAction
@HttpRoute('DELETE', '/notes')
export class Delete extends Action<void, void> {
  protected perform(): void {
    // Nothing is deleted.
  }
}
