import { describe, expect, test } from 'vitest';
import { Decimal } from '../domain/decimal.js';
import { KnownPrincipal } from '../domain/principal.js';
import { Account, newAccount } from '../domain/test-support/account.js';
import { ForbiddenError, ModelNotFoundError, RefusedError } from '../errors.js';
import { AccessCheck } from './access-check.js';
import { visible } from './access-rule.js';

const OWNER = new KnownPrincipal('ana', '{"owner":"ana"}');
const STRANGER = new KnownPrincipal('eve');
const rule = visible(Account, ({ claims }) => ({ nickname: claims['owner'] as string | undefined }));

function checkOf(principal: KnownPrincipal): AccessCheck {
  return new AccessCheck({ actionName: 'Reserve', rule, principal, params: {}, items: () => [] });
}

describe('a refusal of an action whose rule is about accounts', () => {
  const taken = new RefusedError('The seat is taken');
  const missing = new ModelNotFoundError('Account', 'an id');

  test.each([taken, new ModelNotFoundError('Show', 'an id')])(
    'is shown if the action has asked for no account: %s',
    (error) => {
      expect(checkOf(OWNER).shown(error)).toBe(error);
      // A caller who may see no account.
      expect(checkOf(STRANGER).shown(new ModelNotFoundError('Show', 'an id'))).toBeInstanceOf(ForbiddenError);
    },
  );

  test.each([taken, missing])('looks the same for a missing and a hidden account: %s', (error) => {
    const [ofMissing, ofHidden] = [checkOf(OWNER), checkOf(OWNER)];
    for (const check of [ofMissing, ofHidden]) check.ask('Account');
    ofHidden.see(newAccount(new Decimal(1)).nickname('bob').updatedDate(new Date()).build());
    expect(ofMissing.shown(error)).toBeInstanceOf(ForbiddenError);
    expect(ofHidden.shown(error)).toEqual(ofMissing.shown(error));
  });
});
