import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Kinds of things, for realistic and distinct model names. */
const NOUNS = [
  'Account',
  'Order',
  'Ticket',
  'Parcel',
  'Invoice',
  'Booking',
  'Shipment',
  'Contract',
  'Member',
  'Device',
];

/**
 * Writes a project of `count` models: each a model, two events and three actions, one file per class.
 *
 * @param {string} folder absolute path
 * @param {number} count number of models
 */
export function writeSyntheticProject(folder, count) {
  const write = (path, text) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write('package.json', '{ "name": "synthetic", "type": "module" }\n');
  write('fw.config.yaml', CONFIGURATION);
  for (let index = 0; index < count; index += 1) {
    for (const { path, text } of filesOf(modelName(index), fileName(index))) write(path, text);
  }
}

/** The files of one additional model. */
export function addedModel(index) {
  return filesOf(`Added${index}`, `added${index}`);
}

function filesOf(name, file) {
  const opened = eventText(name, file, 'Opened', 'label: string', 'readonly label: string;');
  const changed = eventText(name, file, 'Changed', 'amount: Decimal', 'readonly amount: Decimal;');
  return [
    { path: `src/models/${file}.ts`, text: modelText(name, file) },
    { path: `src/events/${file}-opened-event.ts`, text: opened },
    { path: `src/events/${file}-changed-event.ts`, text: changed },
    { path: `src/actions/${file}-open-action.ts`, text: openText(name, file) },
    { path: `src/actions/${file}-change-action.ts`, text: changeText(name, file) },
    { path: `src/actions/${file}-get-action.ts`, text: getText(name, file) },
  ];
}

/** `Order0017` */
export function modelName(index) {
  return `${NOUNS[index % NOUNS.length]}${String(index).padStart(4, '0')}`;
}

/** `order0017` */
export function fileName(index) {
  return modelName(index).toLowerCase();
}

/** `fw.config.yaml` of a synthetic project. */
export const CONFIGURATION = `fw:
  namespace: bench.synthetic
  generator:
    source: src
    output: src/generated
    migrations: src/migrations
  sharding:
    default-shard: { group: 0, member: 0 }
    groups:
      - group: 0
        name: global
        members:
          - member: 0
            name: global-1
            configs:
              primary-config:
                jdbc-url: jdbc:pglite:mem:global
`;

function modelText(name, file) {
  const variable = name[0].toLowerCase() + name.slice(1);
  return `import { AutoBuilder, type Decimal, Model, ShardedId, type ShardIdentifier, type Uuid, ValidationError } from 'fw-actions';
import { ${name}ChangedEvent } from '../events/${file}-changed-event.js';
import { ${name}OpenedEvent } from '../events/${file}-opened-event.js';
import { ${name}Builder } from '../generated/${file}.js';

export type ${name}State = 'OPENED' | 'CLOSED';

/** One of many things that a synthetic project has. */
@AutoBuilder
export class ${name} extends Model<${name}, ShardedId<${name}>, ${name}State> {
  readonly ownerId!: Uuid;
  /** What people call it. */
  readonly label!: string;
  readonly amount!: Decimal;
  readonly remark?: string;
  readonly dueDate!: Date | null;

  /** Opens one on \`shard\`. */
  static open(shard: ShardIdentifier, ownerId: Uuid, label: string, amount: Decimal, now: Date): ${name} {
    const id = ShardedId.generate(${name}, shard);
    return ${name}Builder.${variable}()
      .id(id)
      .state('OPENED')
      .createdDate(now)
      .withInitialVersion()
      .ownerId(ownerId)
      .label(label)
      .amount(amount)
      .dueDate(null)
      .withEvent(new ${name}OpenedEvent(id, label))
      .build();
  }

  /** Adds to the amount. */
  change(amount: Decimal): ${name} {
    if (!amount.greaterThan(0)) throw new ValidationError('Amount must be positive', { field: 'amount' });
    const next = this.amount.plus(amount);
    return ${name}Builder.copyOf(this).amount(next).withEvent(new ${name}ChangedEvent(this.id, next)).build();
  }
}
`;
}

function eventText(name, file, verb, parameter, field) {
  const type = parameter.endsWith('Decimal') ? 'type Decimal, ' : '';
  return `import { ${type}ModelEvent, type ShardedId } from 'fw-actions';
import { ${name} } from '../models/${file}.js';

/** Something happened. */
export class ${name}${verb}Event extends ModelEvent<${name}> {
  ${field}

  constructor(id: ShardedId<${name}>, ${parameter}) {
    super(id.toString(), ${name});
    this.${parameter.split(':')[0]} = ${parameter.split(':')[0]};
  }
}
`;
}

function openText(name, file) {
  return `import { Action, type Clock, type Decimal, FwAction, HttpRoute, type Principal, ShardIdentifier, type Uuid } from 'fw-actions';
import { ${name} } from '../models/${file}.js';

export interface ${name}OpenParams {
  readonly ownerId: Uuid;
  /** @maxLength 80 */
  readonly label: string;
  readonly amount: Decimal;
}

/** Opens one. */
@FwAction
@HttpRoute('POST', '/${file}', { status: 204, tag: '${name}' })
export class ${name}OpenAction extends Action<${name}OpenParams, ${name}> {
  constructor(clock: Clock) {
    super(clock);
  }

  protected perform(_principal: Principal, params: ${name}OpenParams): ${name} {
    const shard = ShardIdentifier.of(0, 0);
    return this.plan().add(${name}.open(shard, params.ownerId, params.label, params.amount, this.clock.now()));
  }
}
`;
}

function changeText(name, file) {
  return `import { Action, type Clock, type Decimal, FwAction, HttpRoute, type Id, type Principal } from 'fw-actions';
import type { ${name}Repository } from '../generated/${file}.js';
import type { ${name} } from '../models/${file}.js';

export interface ${name}ChangeParams {
  readonly id: Id<${name}>;
  readonly amount: Decimal;
}

/** Changes the amount. */
@FwAction
@HttpRoute('POST', '/${file}/{id}/change', { status: 204, tag: '${name}' })
export class ${name}ChangeAction extends Action<${name}ChangeParams, ${name}> {
  readonly #repository: ${name}Repository;

  constructor(clock: Clock, repository: ${name}Repository) {
    super(clock);
    this.#repository = repository;
  }

  protected async perform(_principal: Principal, params: ${name}ChangeParams): Promise<${name}> {
    const found = await this.#repository.getById(params.id.getValue());
    return this.plan().update(found.change(params.amount));
  }
}
`;
}

function getText(name, file) {
  return `import { Action, type Clock, FwAction, type Id, type Principal } from 'fw-actions';
import type { ${name}Repository } from '../generated/${file}.js';
import type { ${name} } from '../models/${file}.js';

export interface ${name}GetParams {
  readonly id: Id<${name}>;
}

/** Reads one. */
@FwAction
export class ${name}GetAction extends Action<${name}GetParams, ${name}> {
  readonly #repository: ${name}Repository;

  constructor(clock: Clock, repository: ${name}Repository) {
    super(clock);
    this.#repository = repository;
  }

  protected perform(_principal: Principal, params: ${name}GetParams): Promise<${name}> {
    return this.#repository.getById(params.id.getValue());
  }
}
`;
}
