const amount = {
  type: ['string', 'number'],
  pattern: '^-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,4})?$',
  examples: ['150.5'],
};
const walletId = {
  name: 'walletId',
  in: 'path',
  description: 'Id of a Wallet (a UUID of version 7).',
  required: true,
  schema: { type: 'string', format: 'uuid' },
};
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes repeats safe: a repeated request gets the first response and has no second effect.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};
const problem = (description: string): object => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});
const wallet = (description: string): object => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/WalletResponse' } } },
});

/** A document with the structure of an emitted one. */
export const walletOpenApi: object = {
  openapi: '3.1.0',
  info: { title: 'Wallet', version: '1.0.0', description: 'Money on several shards. An id names its shard.' },
  tags: [{ name: 'Wallets' }],
  paths: {
    '/wallets': {
      get: {
        operationId: 'WalletListAction',
        summary: 'Lists the wallets of an owner over all shards, oldest first.',
        tags: ['Wallets'],
        parameters: [
          { name: 'ownerId', in: 'query', required: true, schema: { type: 'string', format: 'uuid' } },
          {
            name: 'limit',
            in: 'query',
            description: 'Wallets per page.',
            required: false,
            schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
          },
          {
            name: 'cursor',
            in: 'query',
            description: '`next` of the page before.',
            required: false,
            schema: { type: 'string' },
          },
        ],
        responses: {
          200: {
            description: 'One page of wallets.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/WalletPageResponse' } } },
          },
          400: { $ref: '#/components/responses/BadRequest' },
        },
      },
      post: {
        operationId: 'WalletCreateAction',
        summary: 'Opens a wallet.',
        tags: ['Wallets'],
        parameters: [idempotencyKey],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  country: {
                    type: 'string',
                    description:
                      '`MX` puts the wallet on the shard of Mexico, anything else on the global one.',
                  },
                  ownerId: { type: 'string', format: 'uuid' },
                  currency: { type: 'string', pattern: '^[A-Z]{3}$', examples: ['EUR'] },
                  initialBalance: { description: 'The opening balance, `"0"` if absent.', ...amount },
                },
                required: ['country', 'ownerId', 'currency'],
              },
              example: {
                country: 'MX',
                ownerId: '6f3f6d58-6a8e-4b1e-9d5b-0d7f2f9f4a10',
                currency: 'MXN',
                initialBalance: '100',
              },
            },
          },
        },
        responses: {
          201: wallet('A wallet as callers see it.'),
          400: { $ref: '#/components/responses/BadRequest' },
          409: problem(
            'The current state refuses the request, other updates won every retry, or a request with the same key is still running.',
          ),
          503: problem('The shard cannot be reached, is read-only or saturated. Nothing was done.'),
        },
      },
    },
    '/wallets/{walletId}/deposit': {
      post: {
        operationId: 'WalletDepositMoneyAction',
        summary: 'Puts money into a wallet.',
        description: "The owner's balance grows by the amount.\nOther wallets <are> not touched.",
        tags: ['Wallets'],
        parameters: [walletId, idempotencyKey],
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                properties: {
                  amount: { description: 'Greater than 0, at most four decimals.', ...amount },
                  recipient: { type: 'string', maxLength: 256, description: 'Who the money is meant for.' },
                },
                required: ['amount'],
              },
              example: { amount: '50.25', recipient: "O'Brien" },
            },
          },
        },
        responses: { 200: wallet('A wallet as callers see it.'), 404: problem('There is no such wallet.') },
      },
    },
  },
  components: {
    schemas: {
      Problem: { type: 'object', properties: { type: { type: 'string' }, title: { type: 'string' } } },
      WalletResponse: {
        type: 'object',
        properties: {
          id: { description: 'Id of a Wallet (a UUID of version 7).', type: 'string', format: 'uuid' },
          shardGroup: { type: 'number' },
          balance: { type: 'string', examples: ['150.5'] },
          state: { type: 'string', enum: ['OPENED', 'CLOSED'] },
          version: { type: 'number' },
          createdDate: { type: 'string', format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] },
        },
        required: ['id', 'shardGroup', 'balance', 'state', 'version', 'createdDate'],
      },
      WalletPageResponse: {
        type: 'object',
        properties: {
          items: { type: 'array', items: { $ref: '#/components/schemas/WalletResponse' } },
          next: { description: 'Cursor of the next page; null on the last one.', type: ['string', 'null'] },
        },
        required: ['items', 'next'],
      },
    },
    responses: { BadRequest: problem('The request is invalid.') },
  },
};
