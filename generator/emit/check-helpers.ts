import type Handlebars from 'handlebars';

/** A helper with the wrong number of values, or with a block although it takes none, or the reverse. */
export interface HelperMistake {
  readonly message: string;
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

interface HelperForm {
  readonly isBlock: boolean;
  readonly values: number;
}

const BLOCK: HelperForm = { isBlock: true, values: 1 };

const HELPERS: Readonly<Record<string, HelperForm>> = {
  if: BLOCK,
  unless: BLOCK,
  each: BLOCK,
  with: BLOCK,
  lookup: { isBlock: false, values: 2 },
};

type Call = hbs.AST.BlockStatement | hbs.AST.MustacheStatement | hbs.AST.SubExpression;

/** Returns the first helper that would fail for any view. Handlebars does not report the position of such a failure. */
export function helperMistake(engine: typeof Handlebars, text: string): HelperMistake | undefined {
  const mistakes: HelperMistake[] = [];
  const look = ({ path, params, loc }: Call, isBlock: boolean): void => {
    const name = 'original' in path ? String(path.original) : '';
    const form = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
    if (form === undefined || (form.isBlock === isBlock && form.values === params.length)) return;
    const found = `{{${isBlock ? '#' : ''}${name}}} with ${params.length} values`;
    mistakes.push({
      message: `${found}: expected {{${form.isBlock ? '#' : ''}${name}}} with ${form.values}`,
      line: loc.start.line,
      column: loc.start.column + 1,
    });
  };
  class Calls extends engine.Visitor {
    override BlockStatement(block: hbs.AST.BlockStatement): void {
      look(block, true);
      super.BlockStatement(block);
    }
    override MustacheStatement(mustache: hbs.AST.MustacheStatement): void {
      look(mustache, false);
      super.MustacheStatement(mustache);
    }
    override SubExpression(expression: hbs.AST.SubExpression): void {
      look(expression, false);
      super.SubExpression(expression);
    }
  }
  new Calls().accept(engine.parse(text));
  return mistakes[0];
}
