import type { SagaOrder, SagaOrders, SagaSummary, SagaWish } from '../../../runtime/operations.js';
import { type CommandContext, readConfig, wholeNumber, withConfig, withFormat } from '../command-context.js';
import { Argument, type Command } from '../commander.js';
import { expectFailures } from '../database-failures.js';
import { EXIT, type ExitCode, type Output } from '../exit.js';
import { examples } from '../help.js';
import { cell, printable } from '../terminal-text.js';
import { untilSettled } from '../until-settled.js';

interface OrderOptions {
  readonly config: string;
  readonly format: 'table' | 'json';
  readonly as?: string;
  readonly wait: number;
}

interface AbandonOptions extends OrderOptions {
  readonly note: string;
}

const EXAMPLE_ID = '01a1fe5a-6ec7-7421-8000-cc38013f2198';

/** Adds `fw-gen sagas retry` and `fw-gen sagas abandon`. */
export function addSagaOrders(sagas: Command, context: CommandContext): void {
  withOrder(sagas.command('retry'))
    .description(
      'Has a process that serves give a parked or overdue saga another try, with the whole time of its step.',
    )
    .option('--as <principal>', 'in whose name it goes on; default: whoever has brought it to where it is')
    .addHelpText('after', examples([`fw-gen sagas retry ${EXAMPLE_ID}`, 'after its obstacle was removed']))
    .action((id: string, options: OrderOptions) => run(context, id, options, { kind: 'retry' }));
  withOrder(sagas.command('abandon'))
    .description(
      'Ends a stuck saga where it is: no further step, no compensation. What its steps have done stays.',
    )
    .requiredOption('--note <text>', 'why, 1 to 2,000 characters; kept as its failure')
    .option('--as <principal>', 'who does so, for the audit trail; default: fw:operator')
    .addHelpText('after', examples([`fw-gen sagas abandon ${EXAMPLE_ID} --note 'refunded by hand'`, '']))
    .action((id: string, options: AbandonOptions) =>
      run(context, id, options, { kind: 'abandon', note: options.note }),
    );
}

function withOrder(command: Command): Command {
  return withFormat(withConfig(command))
    .addArgument(new Argument('<id>', 'its id, as `sagas list` shows it'))
    .option(
      '--wait <seconds>',
      'longest wait for the process that does it, 0 to 600',
      wholeNumber(0, 600),
      20,
    );
}

function run(context: CommandContext, id: string, options: OrderOptions, wish: SagaWish): Promise<void> {
  return context.run(async () => {
    const { output } = context;
    const { sharding } = readConfig(options.config);
    const { sagaOrdersOn, withDatabases } = await import('../../../runtime/operations.js');
    return withDatabases(sharding, output.error, (databases) =>
      expectFailures(() => carryOut(sagaOrdersOn(databases), { id, wish, options, output })),
    );
  });
}

interface Order {
  readonly id: string;
  readonly wish: SagaWish;
  readonly options: OrderOptions;
  readonly output: Output;
}

async function carryOut(orders: SagaOrders, { id, wish, options, output }: Order): Promise<ExitCode> {
  const before = await orders.show(id);
  const obstacle = obstacleOf(before, wish);
  if (obstacle !== undefined) {
    output.error(`${id} ${obstacle}.`);
    return EXIT.drift;
  }
  const orderId = await orders.place(id, wish, options.as);
  const order = await untilSettled(options.wait, async () => {
    const { state, error } = await orders.read(id, orderId);
    return state === 'done' || error !== undefined ? { state, error } : undefined;
  });
  const saga = await orders.show(id);
  if (options.format === 'json') output.info(json(saga, orderId, order));
  else if (order?.state === 'done')
    output.info(`${id} ${DONE[wish.kind]}: ${saga.state} in step ${cell(saga.step)}.`);
  else output.error(`${id} ${notDone(order, orderId, options)}.`);
  return order?.state === 'done' ? EXIT.success : EXIT.drift;
}

const DONE: Readonly<Record<SagaWish['kind'], string>> = { retry: 'is tried again', abandon: 'is abandoned' };

function obstacleOf({ stuck, state }: SagaSummary, { kind }: SagaWish): string | undefined {
  if (stuck === undefined) {
    return state === 'ENDED' ? 'has ended' : 'is not stuck: it is still within the time of its step';
  }
  if (kind === 'retry' && stuck === 'dead-letter') {
    return 'is held up by a dead letter: run `fw-gen events dead-letters retry` for its handler and model';
  }
  return undefined;
}

function notDone(order: SagaOrder | undefined, orderId: string, { wait }: OrderOptions): string {
  if (order?.error !== undefined) {
    return `is as it was: ${printable(order.error)}. The attempt is repeated: see scheduled action ${orderId}`;
  }
  return (
    `is as it was after ${wait} s: a process that serves and delivers has to run. The order stands as scheduled action ` +
    `${orderId}; take it back with \`fw-gen events schedules cancel ${orderId}\``
  );
}

function json(saga: SagaSummary, orderId: string, order: SagaOrder | undefined): string {
  const state = order?.state ?? 'pending';
  return JSON.stringify(
    { saga: { ...saga, shard: saga.shard.toString() }, order: { id: orderId, ...order, state } },
    null,
    2,
  );
}
