import {
  type Client,
  failedWith,
  type WalletResponse,
  walletCreate,
  walletDepositMoney,
  walletGet,
  walletHistoryItems,
  walletHistoryStream,
} from '../../examples/wallet/generated/client/client.js';

/** Opens a wallet and deposits money: the first example of docs/client.md. */
export async function openWallet(baseUrl: string, ownerId: string): Promise<WalletResponse> {
  const client: Client = { baseUrl, headers: () => ({ authorization: `Bearer ${tokenOfUser()}` }) };
  const wallet = await walletCreate(client, { country: 'MX', ownerId, currency: 'MXN' });
  return walletDepositMoney(client, { walletId: wallet.id, amount: '50.25' });
}

function tokenOfUser(): string {
  return 'any';
}

/** Branches on codes. */
export async function depositOrSay(client: Client, walletId: string, amount: string): Promise<string> {
  try {
    const { balance } = await walletDepositMoney(client, { walletId, amount });
    return `Your balance is ${balance}`;
  } catch (error) {
    if (failedWith(error, 'FW_VALIDATION')) return error.problem?.errors?.[0]?.message ?? error.message;
    if (failedWith(error, 'FW_REFUSED')) return error.message;
    if (failedWith(error, 'FW_SHARD_BUSY')) return `${error.problem?.shard} is busy`;
    throw error;
  }
}

/** Determines the outcome of a call that ended in doubt. */
export async function depositForSure(
  client: Client,
  walletId: string,
  idempotencyKey: string,
): Promise<WalletResponse | 'ask again later'> {
  try {
    return await walletDepositMoney(client, { walletId, amount: '1' }, { idempotencyKey });
  } catch (error) {
    // Keep the key: the same call under it returns the first answer, or takes effect if it has not.
    if (failedWith(error) && error.mayHaveTakenEffect) return 'ask again later';
    throw error;
  }
}

/** Edits a version that the caller has read, and requests only changes. */
export async function editSeen(client: Client, wallet: WalletResponse): Promise<boolean> {
  await walletDepositMoney(client, { walletId: wallet.id, amount: '1' }, { ifMatch: wallet.version });
  const now = await walletGet(client, { walletId: wallet.id }, { known: wallet });
  return now !== wallet;
}

/** Reads all pages of a list, then follows later events. */
export async function follow(client: Client, walletId: string, signal: AbortSignal): Promise<string[]> {
  const seen: string[] = [];
  let after = 0;
  for await (const event of walletHistoryItems(client, { walletId, limit: 100 })) {
    seen.push(event.eventType);
    after = event.modelVersion;
  }
  for await (const event of walletHistoryStream(client, { walletId }, { after, signal })) {
    if (event.eventType === 'WalletMoneyDepositedEvent') seen.push(`balance ${event.payload.newBalance}`);
    if (event.eventType === 'WalletClosedEvent') break;
  }
  return seen;
}
