import type { SagaCommand, SagaOrder, SagaSummary } from '../../runtime/operations.js';
import {
  CONFIG,
  type CommandEntry,
  choice,
  FORMAT,
  flag,
  type Report,
  required,
  text,
  value,
  wholeNumber,
} from '../command.js';
import { cell, printable } from '../terminal-text.js';
import { tableLines } from '../text-table.js';
import { untilSettled } from '../until-settled.js';
import { changeReport, operatorCommand, type Session } from './operator-command.js';

const EXAMPLE_ID = '01a1fe5a-6ec7-7421-8000-cc38013f2198';
const STATES = ['RUNNING', 'PARKED', 'ENDED'] as const;
/** Time limit that includes the start of an embedded database, in milliseconds. */
const TIMEOUT_MS = 30_000;

const LIST = operatorCommand({
  name: 'list',
  about: 'Lists sagas of all shards, oldest first. With --stuck it exits with 1 if there are any.',
  examples: [
    ['fw-gen sagas list', 'all of them, page by page'],
    ['fw-gen sagas list --stuck', 'sagas that need an operator'],
    ['fw-gen sagas list --stuck --format json', 'for scripts and monitoring'],
  ],
  inputs: {
    ...CONFIG,
    ...FORMAT,
    stuck: flag('--stuck', 'only sagas that are parked, overdue or blocked by a dead letter'),
    saga: text('--saga <name>', 'only sagas of this name'),
    state: value('--state <state>', 'RUNNING, PARKED or ENDED', choice(STATES)),
    step: text('--step <state>', 'only sagas in this state of their model'),
    limit: value('--limit <n>', 'maximum number of sagas, 1 to 200', wholeNumber(1, 200), 50),
    cursor: text('--cursor <cursor>', 'cursor of the previous page'),
  },
  run: async ({ runtime, databases }, { stuck, saga, state, step, limit, cursor }) => {
    const page = { saga, state, step, limit, cursor, timeoutMs: TIMEOUT_MS };
    const query = stuck === true ? { ...page, stuck } : page;
    const { items, next, failures } = await runtime.listSagasOn(databases, query);
    const none = stuck === true ? 'No saga is stuck.' : 'No sagas.';
    return {
      json: {
        sagas: items,
        next,
        failures: failures.map(({ shard, error: { message } }) => ({ shard, message })),
      },
      lines: [
        ...(items.length + failures.length === 0 ? [none] : table(items)),
        ...(next === null ? [] : [`\nNext page: --cursor ${next}`]),
      ],
      errors: failures.map(({ shard, error }) => `${shard} is missing: ${error.message}`),
      isDrift: failures.length > 0 || (stuck === true && items.length > 0),
    };
  },
});

function table(sagas: readonly SagaSummary[]): readonly string[] {
  return tableLines(sagas, {
    SHARD: ({ shard }) => shard,
    SAGA: ({ saga }) => cell(saga),
    ID: ({ id }) => id,
    STATE: ({ state }) => state,
    STEP: ({ step }) => cell(step),
    STARTED: ({ startedDate }) => startedDate,
    DEADLINE: ({ deadline }) => deadline,
    STUCK: ({ stuck }) => stuck,
    'LAST FAILURE': ({ failure }) =>
      failure === undefined ? '' : cell(`${failure.code}: ${failure.message}`),
  });
}

const ORDER = {
  ...CONFIG,
  ...FORMAT,
  id: required('<id>', 'its id, as `sagas list` shows it'),
  wait: value('--wait <seconds>', 'maximum wait for the server process, 0 to 600', wholeNumber(0, 600), 20),
};

const RETRY = operatorCommand({
  name: 'retry',
  about: 'Requests a server process to retry a parked or overdue saga, with the full time of its step.',
  examples: [[`fw-gen sagas retry ${EXAMPLE_ID}`, 'after its cause is fixed']],
  inputs: {
    ...ORDER,
    as: text('--as <principal>', 'principal of the retry; default: the principal of its last step'),
  },
  run: (session, order, { signal }) => carryOut(session, order, { kind: 'retry' }, signal),
});

const ABANDON = operatorCommand({
  name: 'abandon',
  about: 'Ends a stuck saga in its current step, without compensation. The effects of its steps stay.',
  examples: [[`fw-gen sagas abandon ${EXAMPLE_ID} --note 'refunded by hand'`, '']],
  inputs: {
    ...ORDER,
    note: required('--note <text>', 'the reason, 1 to 2,000 characters; stored as its failure'),
    as: text('--as <principal>', 'principal in the audit trail; default: fw:operator'),
  },
  run: (session, { note, ...order }, { signal }) =>
    carryOut(session, order, { kind: 'abandon', note }, signal),
});

interface Order {
  readonly id: string;
  readonly as: string | undefined;
  readonly wait: number;
}

async function carryOut(
  { runtime, databases }: Session,
  { id, as, wait }: Order,
  wish: SagaCommand,
  signal: AbortSignal,
): Promise<Report> {
  const orders = runtime.sagaOrdersOn(databases);
  const found = await orders.show(id);
  const obstacle = obstacleOf(found, wish);
  if (obstacle !== undefined) return changeReport(false, '', `${id} ${obstacle}.`, { saga: found });
  const orderId = await orders.place(id, wish, as);
  const order = await untilSettled(wait, signal, async () => {
    const { state, error } = await orders.read(id, orderId);
    return state === 'done' || error !== undefined ? { state, error } : undefined;
  });
  const saga = await orders.show(id);
  return changeReport(
    order?.state === 'done',
    `${id} ${DONE[wish.kind]}: ${saga.state} in step ${cell(saga.step)}.`,
    `${id} ${whyNot(order, orderId)}.`,
    { saga, order: { id: orderId, ...order, state: order?.state ?? 'pending' } },
  );
}

const DONE: Readonly<Record<SagaCommand['kind'], string>> = {
  retry: 'is being retried',
  abandon: 'is abandoned',
};

function obstacleOf({ stuck, state }: SagaSummary, { kind }: SagaCommand): string | undefined {
  if (stuck === undefined)
    return state === 'ENDED' ? 'has ended' : 'is not stuck: the time of its step has not passed';
  return kind === 'retry' && stuck === 'dead-letter'
    ? 'is blocked by a dead letter: run `fw-gen events dead-letters retry` for its handler and model'
    : undefined;
}

function whyNot(order: SagaOrder | undefined, orderId: string): string {
  if (order?.error !== undefined)
    return `is unchanged: ${printable(order.error)}. The attempt is repeated: see scheduled action ${orderId}`;
  return (
    'is unchanged so far: no server process with event delivery took the order. It waits as scheduled ' +
    `action ${orderId}; cancel it with \`fw-gen events schedules cancel ${orderId}\``
  );
}

/** `fw-gen sagas` */
export const SAGAS: CommandEntry = {
  name: 'sagas',
  about: 'Shows the progress of sagas, and retries or ends stuck ones.',
  commands: [LIST, RETRY, ABANDON],
};
