import { HERE, type TestBank, THERE } from './accounts.js';

/** Leaves a move of 3 from the first account to the second one half done. */
export async function halfDone(
  bank: TestBank,
): Promise<{ readonly from: string; readonly to: string; readonly id: string }> {
  const [from, to] = [await bank.open(HERE, 10), await bank.open(THERE, 5)];
  await bank.move(from, 3, to);
  return { from, to, id: await undoSecondPart(bank, to) };
}

/**
 * Resets the last move of 3 to the state after a crash behind the first shard transaction's commit.
 *
 * @returns the id of its entry
 */
export async function undoSecondPart(bank: TestBank, to: string): Promise<string> {
  const [entry] = await bank.rows(
    HERE,
    "select id, parts->1->>'actionId' from eventlog.journal order by id desc limit 1",
  );
  const [id, actionId] = (entry ?? []).map(String);
  await bank.rows(THERE, `delete from eventlog.events where action_id = '${actionId}'`);
  await bank.rows(THERE, `delete from eventlog.actions where id = '${actionId}'`);
  await bank.rows(
    THERE,
    `update accounts set version = version - 1, balance = balance - 3 where id = '${to}'`,
  );
  await bank.rows(
    HERE,
    `update eventlog.journal set state = 'open', outcome = null, closed_date = null where id = '${id}'`,
  );
  return String(id);
}
