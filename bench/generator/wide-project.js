import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONFIGURATION, modelName } from './synthetic-project.js';

/** Models of one source file. */
const PER_FILE = 5;

/** The file of the types that all models, events and params use. */
export const SHARED_FILE = 'src/shared/types.ts';

/**
 * Writes a project of `count` models in few large files: each file holds five models of sixteen fields with an event
 * and two actions each, and all of them use types of one shared file.
 *
 * @param {string} folder absolute path
 * @param {number} count number of models
 */
export function writeWideProject(folder, count) {
  const write = (path, text) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('package.json', '{ "name": "wide", "type": "module" }\n');
  write('fw.config.yaml', CONFIGURATION);
  write(SHARED_FILE, SHARED);
  for (let first = 0; first < count; first += PER_FILE) {
    const names = [];
    for (let index = first; index < Math.min(first + PER_FILE, count); index += 1)
      names.push(modelName(index));
    write(areaFile(first), areaText(names));
  }
}

/** The file of the model with this index. */
export function areaFile(index) {
  return `src/areas/area${String(Math.floor(index / PER_FILE)).padStart(4, '0')}.ts`;
}

/** A file with one more model. */
export function addedArea(index) {
  return { path: `src/areas/added${index}.ts`, text: areaText([`Added${index}`]) };
}

const SHARED = `import type { Currency, Decimal } from 'fw-actions';

export const CHANNELS = ['web', 'shop', 'phone'] as const;
export type Channel = (typeof CHANNELS)[number];

export interface Money {
  readonly amount: Decimal;
  readonly currency: Currency;
}

export interface Address {
  readonly street: string;
  /** @maxLength 12 */
  readonly zip?: string;
  readonly city: string;
}

export interface Contact {
  readonly name: string;
  readonly channel: Channel;
  readonly address: Address | null;
}

/** What all requests hold. */
export interface SharedParams {
  readonly channel: Channel;
  /** @maxLength 80 */
  readonly reason?: string;
  readonly contact?: Contact;
}
`;

function areaText(names) {
  return `import { Action, AutoBuilder, type Clock, type Decimal, FwAction, HttpRoute, Model, ModelEvent, type Principal, ShardedId, ShardIdentifier, type Uuid } from 'fw-actions';
${names.map((name) => `import { ${name}Builder, type ${name}Repository } from '../generated/${name.toLowerCase()}.js';`).join('\n')}
import type { Address, Channel, Contact, Money, SharedParams } from '../shared/types.js';
${names.map(modelText).join('')}`;
}

function modelText(name) {
  const path = name.toLowerCase();
  const variable = name[0].toLowerCase() + name.slice(1);
  return `
/** One of many things, with many fields. */
@AutoBuilder
export class ${name} extends Model<${name}, ShardedId<${name}>, 'OPEN' | 'CLOSED'> {
  readonly ownerId!: Uuid;
  readonly price!: Money;
  readonly paid!: Money | null;
  readonly home!: Address;
  readonly work?: Address;
  readonly contacts!: readonly Contact[];
  readonly channel!: Channel;
  readonly label!: string;
  /** @maxLength 200 */
  readonly remark?: string;
  readonly total!: Decimal;
  readonly count!: number;
  readonly large!: bigint;
  readonly isUrgent!: boolean;
  readonly dueDate!: Date | null;
  readonly tags!: readonly string[];
  readonly quotas!: Readonly<Record<string, Decimal>>;

  static open(shard: ShardIdentifier, params: ${name}OpenParams, now: Date): ${name} {
    const id = ShardedId.generate(${name}, shard);
    return ${name}Builder.${variable}()
      .id(id)
      .state('OPEN')
      .createdDate(now)
      .withInitialVersion()
      .ownerId(params.ownerId)
      .price(params.price)
      .paid(null)
      .home(params.home)
      .contacts([])
      .channel(params.channel)
      .label(params.label)
      .total(params.price.amount)
      .count(0)
      .large(0n)
      .isUrgent(false)
      .dueDate(null)
      .tags([])
      .quotas({})
      .withEvent(new ${name}OpenedEvent(id, params.price))
      .build();
  }

  rename(label: string): ${name} {
    const next = label.trim();
    return ${name}Builder.copyOf(this).label(next).build();
  }
}

export class ${name}OpenedEvent extends ModelEvent<${name}> {
  readonly price: Money;

  constructor(id: ShardedId<${name}>, price: Money) {
    super(id.toString(), ${name});
    this.price = price;
  }
}

export interface ${name}OpenParams extends SharedParams {
  readonly ownerId: Uuid;
  readonly label: string;
  readonly price: Money;
  readonly home: Address;
}

@FwAction
@HttpRoute('POST', '/${path}', { status: 204, tag: '${name}' })
export class ${name}OpenAction extends Action<${name}OpenParams, ${name}> {
  protected perform(_principal: Principal, params: ${name}OpenParams): ${name} {
    return this.plan().add(${name}.open(ShardIdentifier.of(0, 0), params, this.clock.now()));
  }
}

export interface ${name}RenameParams extends SharedParams {
  readonly id: ShardedId<${name}>;
  readonly label: string;
}

@FwAction
@HttpRoute('POST', '/${path}/{id}/rename', { status: 204, tag: '${name}' })
export class ${name}RenameAction extends Action<${name}RenameParams, ${name}> {
  readonly #repository: ${name}Repository;

  constructor(clock: Clock, repository: ${name}Repository) {
    super(clock);
    this.#repository = repository;
  }

  protected async perform(_principal: Principal, params: ${name}RenameParams): Promise<${name}> {
    const found = await this.#repository.getById(params.id.getValue());
    return this.plan().update(found.rename(params.label));
  }
}
`;
}
