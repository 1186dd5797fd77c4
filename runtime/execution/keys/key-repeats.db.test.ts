import { beforeEach, expect, test } from 'vitest';
import { describeOnEachAdapter } from '../../../test/databases/vitest.js';
import { ActionRegistry } from '../../action/action-registry.js';
import type { ExecutionConfigurationBuilder } from '../../action/execution-configuration.js';
import { Reach } from '../../action/tenancy.js';
import { systemClock } from '../../domain/clock.js';
import { Decimal } from '../../domain/decimal.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import type { ShardIdentifier } from '../../domain/shard-identifier.js';
import { type Account, accountModel } from '../../domain/test-support/account.js';
import { ForbiddenError, IdempotencyKeyReusedError, ModelNotFoundError } from '../../errors.js';
import type { Statement } from '../../sharding/shard-database.js';
import { ActionExecutor } from '../action-executor.js';
import {
  ALICE,
  CreditAction,
  configure,
  HERE,
  makeBank,
  OpenAction,
  type TestBank,
  THERE,
} from '../test-support/accounts.js';

/** Look-ups without a repeat after which keys are claimed without one. */
const LOOK_UPS = 100;

describeOnEachAdapter('A process that has seen no repeat for a while', (harness) => {
  let bank: TestBank;
  let account: string;
  let sent: Statement[];
  let keys = 0;

  function credit(
    key: string,
    amount: number,
    change: (builder: ExecutionConfigurationBuilder) => unknown = () => {},
    to = account,
  ): Promise<Account> {
    const builder = configure().idempotencyKey(key);
    change(builder);
    const params = { account: to, amount: new Decimal(amount) };
    return bank.executor.execute(ALICE, CreditAction, params, builder.build());
  }

  /** Opens an account under a key. */
  function open(shard: ShardIdentifier, key: string, executor = bank.executor): Promise<Account> {
    const params = { shard, balance: new Decimal(1) };
    return executor.execute(ALICE, OpenAction, params, configure().idempotencyKey(key).build());
  }

  const newKey = (): string => `new-${++keys}`;
  const lookUps = (): number => sent.filter(({ name }) => name?.startsWith('fw_read_key')).length;
  const seeNoRepeat = (): Promise<unknown> =>
    Promise.all(Array.from({ length: LOOK_UPS }, () => credit(newKey(), 1)));

  beforeEach(async () => {
    sent = [];
    bank = await makeBank(harness, (statement, send) => {
      sent.push(statement);
      return send();
    });
    account = await bank.open(HERE, 0);
    await credit('first', 1);
    await seeNoRepeat();
    sent = [];
  });

  test('does not look keys up', async () => {
    expect((await credit(newKey(), 1)).balance.toFixed()).toBe('102');
    expect(lookUps()).toBe(0);
  });

  test('answers a repeat with the first result, and looks keys up again', async () => {
    const reports: unknown[] = [];
    const { balance, version } = await credit('first', 1, (builder) =>
      builder.onReport(({ replayed, attempts }) => reports.push([replayed, attempts.map(({ end }) => end)])),
    );
    expect([balance.toFixed(), version]).toEqual(['1', 2]);
    expect(await bank.balance(account)).toBe('101');
    expect(reports).toEqual([[true, ['key-taken']]]);
    sent = [];
    await credit(newKey(), 1);
    expect(lookUps()).toBe(1);
    await seeNoRepeat();
    sent = [];
    await credit(newKey(), 1);
    expect(lookUps()).toBe(0);
  });

  test('applies everything that it sends together with repeats, once', async () => {
    const others = await Promise.all(Array.from({ length: 8 }, () => bank.open(HERE, 0)));
    await Promise.all(others.map((other, index) => credit(`of-${index}`, 1, () => {}, other)));
    await seeNoRepeat();
    const before = Number(await bank.balance(account));
    await Promise.all(
      others.flatMap((other, index) => [
        credit(`of-${index}`, 1, () => {}, other),
        credit(newKey(), 1, () => {}, other),
        credit(newKey(), 1),
      ]),
    );
    expect(await Promise.all(others.map((other) => bank.balance(other)))).toEqual(others.map(() => '2'));
    expect(await bank.balance(account)).toBe(String(before + others.length));
  });

  test('applies fifty repeats that start at once, once, and refuses other requests among them', async () => {
    const fresh = newKey();
    sent = [];
    const credits = Array.from({ length: 50 }, (_, nr) =>
      credit(fresh, nr % 10 === 9 ? 2 : 1).then(
        ({ balance, version }) => `${balance.toFixed()} ${version}`,
        ({ code }) => code,
      ),
    );
    const ends = await Promise.all(credits);
    const distinct = [...new Set(ends)].sort();
    expect(distinct).toHaveLength(2);
    expect(distinct[1]).toBe('FW_KEY_REUSED');
    // Only the first one is sent without a look-up, and one repeat that does not expect to be one.
    expect(sent.length).toBeLessThan(60);
    expect(await bank.balance(account)).toBe(distinct[0]?.split(' ')[0]);
  });

  test('refuses another request under a key', async () => {
    await expect(credit('first', 2)).rejects.toThrow(IdempotencyKeyReusedError);
    expect(await bank.balance(account)).toBe('101');
    sent = [];
    await credit(newKey(), 1);
    expect(lookUps()).toBe(1);
  });

  test('answers a repeat whose action would be refused now', async () => {
    await bank.rows(HERE, `DELETE FROM accounts WHERE id = '${account}'`);
    await expect(credit(newKey(), 1)).rejects.toThrow(ModelNotFoundError);
    expect((await credit('first', 1)).balance.toFixed()).toBe('1');
  });

  test('answers a repeat whose plan is on another shard than its key', async () => {
    const far = await bank.open(THERE, 0);
    const elsewhere = (builder: ExecutionConfigurationBuilder): unknown =>
      builder.idempotencyKey('far', { home: HERE });
    await credit('far', 1, elsewhere, far);
    await seeNoRepeat();
    expect((await credit('far', 1, elsewhere, far)).balance.toFixed()).toBe('1');
    expect(await bank.balance(far)).toBe('1');
  });

  test.each([
    [THERE, HERE],
    [HERE, THERE],
  ])('answers a repeat that would write elsewhere than the first one: %s, then %s', async (first, now) => {
    const { id } = await open(first, 'first');
    await Promise.all(Array.from({ length: LOOK_UPS }, () => open(HERE, newKey())));
    expect((await open(now, 'first')).id.getValue()).toBe(id.getValue());
  });

  test('refuses a repeat whose first result the caller may no longer reach', async () => {
    let groups = [HERE.group, THERE.group];
    const create = (): OpenAction => new OpenAction(systemClock);
    const executor = new ActionExecutor({
      registry: new ActionRegistry([{ name: 'Open', actionClass: OpenAction, params: [], create }]),
      gateways: bank.gateways,
      models: [accountModel as unknown as ModelDescriptor],
      reach: (principal) => new Reach(principal, new Set(groups)),
    });
    await open(THERE, 'first', executor);
    groups = [HERE.group];
    await Promise.all(Array.from({ length: LOOK_UPS }, () => open(HERE, newKey(), executor)));
    await expect(open(HERE, 'first', executor)).rejects.toThrow(ForbiddenError);
  });

  test('takes a key whose time is over for a new request', async () => {
    await bank.rows(HERE, "UPDATE eventlog.idempotency_keys SET expires_date = now() WHERE key = 'first'");
    expect((await credit('first', 1)).balance.toFixed()).toBe('102');
    await expect(credit('first', 2)).rejects.toThrow(IdempotencyKeyReusedError);
  });
});
