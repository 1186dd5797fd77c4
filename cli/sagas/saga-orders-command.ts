import type { SagaCommand, SagaOrder, SagaOrders, SagaSummary } from '../../runtime/operations.js';
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
      'Requests a server process to retry a parked or overdue saga, with the full time of its step.',
    )
    .option('--as <principal>', 'principal of the retry; default: the principal of its last step')
    .addHelpText('after', examples([`fw-gen sagas retry ${EXAMPLE_ID}`, 'after its cause is fixed']))
    .action((id: string, options: OrderOptions) => run(context, id, options, { kind: 'retry' }));
  withOrder(sagas.command('abandon'))
    .description(
      'Ends a stuck saga in its current step, without compensation. The effects of its steps stay.',
    )
    .requiredOption('--note <text>', 'the reason, 1 to 2,000 characters; stored as its failure')
    .option('--as <principal>', 'principal in the audit trail; default: fw:operator')
    .addHelpText('after', examples([`fw-gen sagas abandon ${EXAMPLE_ID} --note 'refunded by hand'`, '']))
    .action((id: string, options: AbandonOptions) =>
      run(context, id, options, { kind: 'abandon', note: options.note }),
    );
}

function withOrder(command: Command): Command {
  return withFormat(withConfig(command))
    .addArgument(new Argument('<id>', 'its id, as `sagas list` shows it'))
    .option('--wait <seconds>', 'maximum wait for the server process, 0 to 600', wholeNumber(0, 600), 20);
}

function run(context: CommandContext, id: string, options: OrderOptions, wish: SagaCommand): Promise<void> {
  return context.run(async () => {
    const { output } = context;
    const { sharding } = readConfig(options.config);
    const { sagaOrdersOn, withDatabases } = await import('../../runtime/operations.js');
    return withDatabases(sharding, output.error, (databases) =>
      expectFailures(() => carryOut(sagaOrdersOn(databases), { id, wish, options, output })),
    );
  });
}

interface Order {
  readonly id: string;
  readonly wish: SagaCommand;
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

const DONE: Readonly<Record<SagaCommand['kind'], string>> = {
  retry: 'is being retried',
  abandon: 'is abandoned',
};

function obstacleOf({ stuck, state }: SagaSummary, { kind }: SagaCommand): string | undefined {
  if (stuck === undefined) {
    return state === 'ENDED' ? 'has ended' : 'is not stuck: the time of its step has not passed';
  }
  if (kind === 'retry' && stuck === 'dead-letter') {
    return 'is blocked by a dead letter: run `fw-gen events dead-letters retry` for its handler and model';
  }
  return undefined;
}

function notDone(order: SagaOrder | undefined, orderId: string, { wait }: OrderOptions): string {
  if (order?.error !== undefined) {
    return `is unchanged: ${printable(order.error)}. The attempt is repeated: see scheduled action ${orderId}`;
  }
  return (
    `is unchanged after ${wait} s: no server process with event delivery took the order. It waits as scheduled action ` +
    `${orderId}; cancel it with \`fw-gen events schedules cancel ${orderId}\``
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
