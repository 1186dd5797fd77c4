/** A wallet as in the server's answers. */
export interface WalletBody {
  readonly id: string;
  readonly shardGroup: number;
  readonly shardMember: number;
  readonly ownerId: string;
  readonly currency: string;
  readonly balance: string;
  readonly state: string;
  readonly version: number;
}

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Sends JSON and reads JSON. */
export async function post<Body = WalletBody>(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Body>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

export async function get<Body = WalletBody>(url: string): Promise<Answer<Body>> {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}

/** Creates a wallet. */
export async function createWallet(
  url: string,
  country: string,
  ownerId: string,
  initialBalance = '100',
): Promise<WalletBody> {
  const { status, body } = await post(`${url}/wallets`, {
    country,
    ownerId,
    currency: 'EUR',
    initialBalance,
  });
  if (status !== 201) throw new Error(`POST /wallets answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
