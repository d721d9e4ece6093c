import { isPair, isScalar, visit } from "yaml";
import type { Document } from "yaml";

export interface UnsetVariable {
  readonly name: string;
  readonly offset: number;
  /** The top-level setting that refers to it. */
  readonly section: string;
}

const reference = /(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** A variable in a value for {@link withoutVariables}. */
export class Variable {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The value with each {@link Variable} as `${NAME}`, and with all other texts and keys as {@link fillVariables} leaves them. */
export function withoutVariables(value: unknown): unknown {
  if (typeof value === "string") return escaped(value);
  if (value instanceof Variable) return `\${${value.name}}`;
  if (Array.isArray(value)) return value.map(withoutVariables);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [escaped(key), withoutVariables(each)]));
}

const escaped = (text: string): string => text.replaceAll(reference, "$1$$$${$2}");

/** Replaces each `${NAME}` in the document by the variable, and `$${NAME}` by `${NAME}`. Unset ones stay and are returned. */
export function fillVariables(
  document: Document,
  env: Readonly<Record<string, string | undefined>>,
): readonly UnsetVariable[] {
  const unset: UnsetVariable[] = [];
  visit(document, {
    Scalar(_, node, path) {
      if (typeof node.value !== "string") return;
      const key = path.find((each) => isPair(each))?.key;
      const section = isScalar(key) ? String(key.value) : "";
      node.value = node.value.replaceAll(reference, (whole: string, escape: string, name: string) => {
        if (escape !== "") return `\${${name}}`;
        const value = env[name];
        if (value === undefined) unset.push({ name, offset: node.range?.[0] ?? 0, section });
        return value ?? whole;
      });
    },
  });
  return unset;
}
