import type { TSchema } from "typebox";
import { isMap, isScalar, isSeq } from "yaml";
import type { Document } from "yaml";

/** The offset of a setting, or of its parent if it is missing. */
export function offsetOf(document: Document, path: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0] ?? offset;
    }
  }
  return offset;
}

function schemaAt(whole: TSchema, path: readonly string[]): unknown {
  let schema: unknown = whole;
  for (const key of path) {
    const {
      properties,
      items,
      patternProperties = {},
    } = (schema ?? {}) as {
      readonly properties?: Record<string, unknown>;
      readonly items?: unknown;
      readonly patternProperties?: Record<string, unknown>;
    };
    const [, named] = Object.entries(patternProperties).find(([pattern]) => new RegExp(pattern, "u").test(key)) ?? [];
    schema = properties?.[key] ?? items ?? named;
  }
  return schema;
}

export function describe(whole: TSchema, path: readonly string[]): string {
  const { description } = (schemaAt(whole, path) ?? {}) as { readonly description?: string };
  return description === undefined ? "" : `. ${description}`;
}

export function allowedAt(whole: TSchema, path: readonly string[]): string {
  const { properties, description } = (schemaAt(whole, path) ?? {}) as {
    readonly properties?: object;
    readonly description?: string;
  };
  return `allowed here: ${properties === undefined ? description : Object.keys(properties).join(", ")}`;
}
