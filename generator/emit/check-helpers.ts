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
export function helperMistake(
  engine: typeof Handlebars,
  program: hbs.AST.Program,
): HelperMistake | undefined {
  const mistakes: HelperMistake[] = [];
  visit(engine, program, (node) => {
    if (!isCall(node)) return;
    const { path, params, loc } = node;
    const isBlock = node.type === 'BlockStatement';
    const name = 'original' in path ? String(path.original) : '';
    const form = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
    if (form === undefined || (form.isBlock === isBlock && form.values === params.length)) return;
    const found = `{{${isBlock ? '#' : ''}${name}}} with ${params.length} values`;
    const message = `${found}: expected {{${form.isBlock ? '#' : ''}${name}}} with ${form.values}`;
    mistakes.push({ message, line: loc.start.line, column: loc.start.column + 1 });
  });
  return mistakes[0];
}

function isCall(node: hbs.AST.Node): node is Call {
  return ['BlockStatement', 'MustacheStatement', 'SubExpression'].includes(node.type);
}

/** Calls a function with each node of a template. */
export function visit(
  engine: typeof Handlebars,
  program: hbs.AST.Program,
  each: (node: hbs.AST.Node) => void,
): void {
  class Nodes extends engine.Visitor {
    override accept(node: hbs.AST.Node | undefined | null): void {
      if (node === undefined || node === null) return;
      each(node);
      super.accept(node);
    }
  }
  new Nodes().accept(program);
}
