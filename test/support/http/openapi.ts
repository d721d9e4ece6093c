import { dereference } from "#http/openapi/components.ts";

/** The parts of `/openapi.json` that the tests use. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
}

export interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: JsonSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: JsonSchema }[];
  readonly body: { readonly mediaType: string; readonly schema: JsonSchema } | undefined;
}

/** Lists every operation in the running program's own reference, so that new routes are included. */
export async function operationsOf(url: string): Promise<readonly Operation[]> {
  const { paths } = dereference((await (await fetch(`${url}/openapi.json`)).json()) as OpenApi);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const [content] = Object.entries(requestBody?.content ?? {});
      return {
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((each) => ({ ...each, schema: each.schema ?? {} })),
        body: content === undefined ? undefined : { mediaType: content[0], schema: content[1].schema },
      };
    }),
  );
}

/** Builds the smallest value that a schema accepts. */
export function minimalValueOf(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return minimalValueOf(schema.anyOf[0] ?? {});
  switch (schema.type) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, minimalValueOf(schema.properties?.[name] ?? {})]),
      );
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => minimalValueOf(schema.items ?? {}));
    case "integer":
    case "number":
      return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1;
    case "boolean":
      return true;
    case "string":
      return schema.pattern?.includes("@") === true
        ? "kim@example.com"
        : "x".repeat(Math.max(1, schema.minLength ?? 1));
    default:
      return "x";
  }
}
