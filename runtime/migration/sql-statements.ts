/** One statement of a text. */
export interface SqlStatement {
  /** Without outer white space, leading comments and the semicolon. */
  readonly text: string;
  /** Offset in the whole text, in UTF-16 units. */
  readonly offset: number;
}

/**
 * Splits a text into its statements, as `psql` does: semicolons inside of quotes, dollar quotes, comments, parentheses
 * and `begin atomic ... end` do not end a statement. The server reports an unclosed quote.
 */
export function splitStatements(sql: string): readonly SqlStatement[] {
  const statements: SqlStatement[] = [];
  let statement = new StatementScan();
  for (let at = 0; at < sql.length; ) {
    const end = tokenEnd(sql, at);
    const token = sql.slice(at, end);
    if (token === ';' && statement.mayEnd) {
      statement.addTo(statements, sql, at);
      statement = new StatementScan();
    } else {
      statement.see(token, at);
    }
    at = end;
  }
  statement.addTo(statements, sql, sql.length);
  return statements;
}

const BLANK = /^(?:\s|--|\/\*)/;
/** A routine whose body may be SQL with semicolons. */
const ROUTINE = /^create (?:or replace )?(?:function|procedure) /;

/** The state of the statement that is being read. */
class StatementScan {
  #start: number | undefined;
  #parentheses = 0;
  #blocks = 0;
  /** Its first words, each followed by a space. */
  #words = '';

  get mayEnd(): boolean {
    return this.#parentheses === 0 && this.#blocks === 0;
  }

  see(token: string, at: number): void {
    if (BLANK.test(token)) return;
    this.#start ??= at;
    if (token === '(') this.#parentheses += 1;
    else if (token === ')') this.#parentheses = Math.max(0, this.#parentheses - 1);
    else if (/^[\p{L}_]/u.test(token)) this.#seeWord(token.toLowerCase());
  }

  addTo(statements: SqlStatement[], sql: string, end: number): void {
    const offset = this.#start;
    if (offset !== undefined) statements.push({ text: sql.slice(offset, end).trimEnd(), offset });
  }

  #seeWord(word: string): void {
    if (this.#words.length < 40) this.#words += `${word} `;
    if (this.#parentheses > 0 || !ROUTINE.test(this.#words)) return;
    if (word === 'begin' || (word === 'case' && this.#blocks > 0)) this.#blocks += 1;
    else if (word === 'end' && this.#blocks > 0) this.#blocks -= 1;
  }
}

/** Tokens with their own pattern; anything else is one character. */
const TOKENS: readonly RegExp[] = [
  /\s+/y,
  /--[^\n]*/y,
  // Backslashes escape only in E'', because `standard_conforming_strings` is on.
  /[eE]'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'?/sy,
  /'[^']*(?:''[^']*)*'?/y,
  /"[^"]*(?:""[^"]*)*"?/y,
  /[\p{L}_][\p{L}\p{N}_$]*/uy,
  // Letters and dollars after a number belong to it and begin no quote.
  /\d[\p{L}\p{N}_$]*/uy,
];
const DOLLAR_QUOTE = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;

function tokenEnd(sql: string, at: number): number {
  if (sql.startsWith('/*', at)) return commentEnd(sql, at);
  const mark = matchAt(DOLLAR_QUOTE, sql, at);
  if (mark !== undefined) {
    const close = sql.indexOf(mark, at + mark.length);
    return close < 0 ? sql.length : close + mark.length;
  }
  for (const pattern of TOKENS) {
    const token = matchAt(pattern, sql, at);
    if (token !== undefined) return at + token.length;
  }
  return at + 1;
}

/** Block comments nest in PostgreSQL. */
function commentEnd(sql: string, start: number): number {
  let depth = 0;
  for (const { 0: mark, index } of sql.slice(start).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return start + index + mark.length;
  }
  return sql.length;
}

function matchAt(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}
