import { describe, expect, it } from 'vitest';
import { isOnePlainRequest, targetOf } from './raw-request.js';

const BODY = '{"amount":"1"}';
const POST = `POST /wallets/1/deposit?x=y HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const GET = 'GET /wallets/1 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nX-Empty: a b\tc\r\n\r\n'.replace(
  '\t',
  ' ',
);

describe('A target read without a parser', () => {
  it.each([
    ['POST /a/b?c=%20 HTTP/1.1\r\n', '/a/b?c=%20'],
    ['GET / ', '/'],
    ['OPTIONS * HTTP/1.1\r\n', undefined],
    ['GET http://a/ HTTP/1.1\r\n', undefined],
    ['GET /half', undefined],
    ['PROPPATCHES /a HTTP/1.1\r\n', undefined],
    ['GET /a\u00e9 HTTP/1.1\r\n', undefined],
    [`GET /${'a'.repeat(2_000)} HTTP/1.1\r\n`, undefined],
    ['GET', undefined],
  ])('%j', (text, target) => {
    expect(targetOf(Buffer.from(text, 'latin1'))).toBe(target);
  });
});

describe('Bytes that are one plain request', () => {
  it.each([POST, GET, POST.replace('Content-Length', 'content-length')])('%j', (text) => {
    expect(isOnePlainRequest(Buffer.from(text, 'latin1'))).toBe(true);
  });
});

describe('Bytes that only the parser can read', () => {
  const header = (line: string): string => GET.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
  it.each([
    ['a part of a head', GET.slice(0, -1)],
    ['a part of a body', POST.slice(0, -1)],
    ['more than one request', POST + GET],
    ['bytes behind a request', `${POST}x`],
    ['a length without a body', header('Content-Length: 4')],
    ['two lengths', POST.replace('Host: a', 'Content-Length: 14')],
    ['a length in another notation', POST.replace(': 14', ': +14')],
    ['a length in two parts', POST.replace(': 14', ': 14, 14')],
    ['chunks', header('Transfer-Encoding: chunked')],
    ['an expectation', header('Expect: 100-continue')],
    ['an upgrade', header('Upgrade: h2c')],
    ['a connection that ends', header('Connection: close')],
    ['connection options', header('Connection: keep-alive, TE')],
    ['a folded header', header('X: a\r\n b')],
    ['no space behind the colon', header('Content-Length:0')],
    ['a space before the colon', header('Content-Length : 0')],
    ['a tab', header('X:\ta')],
    ['a bare line feed', header('X: a\nContent-Length: 0')],
    ['HEAD, whose answer has no body', GET.replace('GET', 'HEAD')],
    ['HTTP/1.0', GET.replace('HTTP/1.1', 'HTTP/1.0')],
    ['no headers', 'GET / HTTP/1.1\r\n\r\n'],
    ['a long head', header(`X: ${'a'.repeat(5_000)}`)],
  ])('%s', (_what, text) => {
    expect(isOnePlainRequest(Buffer.from(text, 'latin1'))).toBe(false);
  });
});
