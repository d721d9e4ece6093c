/** The part of a schema that is traversed. */
export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string;
  enum?: unknown[];
  default?: string | number | boolean;
  format?: string;
  contentMediaType?: string;
  required?: string[];
  additionalProperties?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
}

export type Components = Record<string, Schema>;

const prefix = "#/components/schemas/";

/** Moves every schema with a title below `value` to the components, and returns what refers to them instead. */
export function hoist<T>(value: T, components: Components): T {
  if (Array.isArray(value)) return value.map((each: unknown) => hoist(each, components)) as T;
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, hoist(inner, components)]),
  ) as Schema;
  // A field by the name of `title` is a schema itself.
  if (typeof copy.title !== "string") return copy as T;
  const { title } = copy;
  const known = components[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) {
    throw new Error(`two schemas of the API have the title ${title}`);
  }
  components[title] = copy;
  return { $ref: `${prefix}${title}` } as T;
}

export function resolve(schema: Schema | undefined, components: Components): Schema | undefined {
  return schema?.$ref?.startsWith(prefix) === true ? components[schema.$ref.slice(prefix.length)] : schema;
}

/** The document with every component in the place of what refers to it. No schema contains itself. */
export function dereference<T extends object>(document: T): T {
  const { components } = document as { readonly components?: { readonly schemas?: Components } };
  const inline = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inline);
    if (typeof value !== "object" || value === null) return value;
    const schema: Schema = value;
    const found = resolve(schema, components?.schemas ?? {});
    if (found === schema || found === undefined) return inlineFields(schema);
    const { $ref: _, ...own } = schema;
    return inlineFields({ ...found, ...own });
  };
  const inlineFields = (schema: Schema): unknown =>
    Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, inline(inner)]));
  return inline(document) as T;
}
