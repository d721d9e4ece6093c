import { type Function as FunctionNode, type ArrowFunctionExpression, parseSync, Visitor } from "oxc-parser";

/** A function that has a body, with its lengths in lines. */
export interface FunctionLength {
  readonly path: string;
  readonly name: string;
  /** Its first line, counted from 1. */
  readonly line: number;
  /** Lines from its first to its last, with everything inside. */
  readonly total: number;
  /** `total` without the functions inside it. */
  readonly own: number;
}

interface Span {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  nested: number;
}

/** Measures every function of a file, however deeply it is nested. */
export function functionLengths(path: string, text: string): readonly FunctionLength[] {
  const { program } = parseSync(path, text);
  const lineOf = lineNumbers(text);
  const open: Span[] = [];
  const lengths: FunctionLength[] = [];
  const names = new Map<number, string>();

  const enter = (node: FunctionNode | ArrowFunctionExpression): void => {
    if (node.body === null) return;
    const first = lineOf(node.start);
    const named = "id" in node && node.id !== null ? node.id.name : names.get(node.start);
    open.push({ name: named ?? "(anonymous)", first, last: lineOf(node.end), nested: 0 });
  };
  const exit = (node: FunctionNode | ArrowFunctionExpression): void => {
    if (node.body === null) return;
    const span = open.pop();
    if (span === undefined) return;
    const total = span.last - span.first + 1;
    const parent = open.at(-1);
    if (parent !== undefined) parent.nested += total;
    lengths.push({ path, name: span.name, line: span.first, total, own: total - span.nested });
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (id.type === "Identifier" && init !== null) names.set(init.start, id.name);
    },
    Property: ({ key, value }) => {
      if (key.type === "Identifier") names.set(value.start, key.name);
    },
    MethodDefinition: ({ key, value }) => {
      if (key.type === "Identifier") names.set(value.start, key.name);
    },
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": exit,
    FunctionExpression: enter,
    "FunctionExpression:exit": exit,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": exit,
  }).visit(program);
  return lengths;
}

function lineNumbers(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? Number.POSITIVE_INFINITY) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
