import { AutoBuilder, Key, Model, ShardedId, type ShardIdentifier } from 'fw-actions';
import { WriterBuilder } from '../generated/writer.js';

/** An author of notes. */
@AutoBuilder
export class Writer extends Model<Writer, ShardedId<Writer>, 'KNOWN'> {
  @Key readonly name!: string;
  /** @integer */
  readonly notes!: number;

  static of(shard: ShardIdentifier, name: string, now: Date): Writer {
    return WriterBuilder.writer()
      .id(ShardedId.generate(Writer, shard))
      .state('KNOWN')
      .createdDate(now)
      .withInitialVersion()
      .name(name)
      .notes(1)
      .build();
  }

  wrote(): Writer {
    return WriterBuilder.copyOf(this)
      .notes(this.notes + 1)
      .build();
  }
}
