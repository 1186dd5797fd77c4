import { Action, type Clock, FwAction, type Principal, ShardIdentifier } from 'fw-actions';
import type { WriterRepository } from '../generated/writer.js';
import { Writer } from '../models/writer.js';

export interface WriterCountParams {
  readonly name: string;
}

/** Counts one more note of a writer. */
@FwAction
export class WriterCountAction extends Action<WriterCountParams, void> {
  readonly #writers: WriterRepository;

  constructor(clock: Clock, writers: WriterRepository) {
    super(clock);
    this.#writers = writers;
  }

  protected async perform(_principal: Principal, { name }: WriterCountParams): Promise<void> {
    const shard = ShardIdentifier.of(0, 0);
    const known = await this.#writers.findByKey({ name }, shard);
    if (known === undefined) this.plan().add(Writer.of(shard, name, this.clock.now()));
    else this.plan().update(known.wrote());
  }
}
