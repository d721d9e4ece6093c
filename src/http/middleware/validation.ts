import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import { unknownField } from "./unknown-fields.ts";

/** The part of JSON Schema that the routes' schemas use. */
interface Node {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly anyOf?: readonly Node[];
  readonly description?: string;
  /** Replaces the generated description in error texts. */
  readonly allowed?: string;
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/**
 * The check of a route's schema. Errors of requests become Problems with the codes of the API. A schema is compiled at its
 * first request: hundreds of routes would delay the start, and most of them would hold memory for nothing.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  let check: ReturnType<typeof Compile<TSchema>> | undefined;
  const node = schema as Node;
  const kind = httpPart === "body" ? "field" : "parameter";
  return (value: unknown) => {
    const unknown = unknownField(value, node, kind);
    if (unknown !== undefined) return { error: unknown };
    const given = httpPart === "body" ? withoutNulls(value, node) : fromText(value, node);
    check ??= Compile(schema);
    if (check.Check(given)) return { value: given };
    return { error: problemOf(check.Errors(given), node) };
  };
};

/** Removes fields that are null, which count as absent. Free-form fields stay as they are. */
function withoutNulls(value: unknown, node: Node): unknown {
  if (Array.isArray(value)) {
    const { items } = node;
    return items === undefined ? value : value.map((each) => withoutNulls(each, items));
  }
  if (typeof value !== "object" || value === null || node.properties === undefined) return value;
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const property = Object.hasOwn(node.properties, name) ? node.properties[name] : undefined;
    if (property === undefined) kept.push([name, field]);
    else if (field !== null) kept.push([name, withoutNulls(field, property)]);
  }
  return Object.fromEntries(kept);
}

/** Converts query parameters to the numbers and lists of the schema. */
function fromText(value: unknown, { properties }: Node): unknown {
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
      if (type === "array") return [name, Array.isArray(field) ? field : [field]];
      if (type === "integer" && typeof field === "string" && /^-?\d{1,15}$/.test(field)) return [name, Number(field)];
      return [name, field];
    }),
  );
}

const ownCode: Readonly<Record<string, ProblemCode>> = {
  top_k: "invalid_top_k",
  temperature: "invalid_temperature",
  strictness: "invalid_strictness",
  audience: "invalid_audience",
  cursor: "invalid_cursor",
  workspace_id: "invalid_workspace_id",
};

function problemOf(errors: readonly SchemaError[], schema: Node): Problem {
  // The anyOf error describes the whole choice; the others describe one alternative each.
  const error = errors.find(({ keyword }) => keyword === "anyOf") ?? errors[0];
  if (error === undefined) return new Problem("invalid_parameter", "The request does not match the API reference.");
  const steps = error.instancePath.split("/").slice(1);
  if (error.keyword === "required") {
    const { requiredProperties } = error.params as { readonly requiredProperties?: readonly string[] };
    return new Problem("missing_field", `${[...named(steps), requiredProperties?.[0] ?? ""].join(".")} is required.`);
  }
  const top = steps[0] ?? "";
  const field = named(steps).join(".") || "The body";
  const node = nodeAt(schema, steps);
  if (error.keyword === "maxLength" && (top === "query" || top === "message")) {
    return new Problem("message_too_long", `${top} may have at most ${node?.maxLength ?? 0} characters.`);
  }
  return new Problem(ownCode[top] ?? "invalid_parameter", `${field} must be ${allowed(node)}.`);
}

function named(steps: readonly string[]): string[] {
  const names: string[] = [];
  for (const step of steps) {
    const last = names.at(-1);
    if (/^\d+$/.test(step) && last !== undefined) names[names.length - 1] = `${last}[${step}]`;
    else names.push(step.slice(0, 64));
  }
  return names;
}

function nodeAt(schema: Node, steps: readonly string[]): Node | undefined {
  let node: Node | undefined = schema;
  for (const step of steps) {
    if (node?.properties !== undefined) node = Object.hasOwn(node.properties, step) ? node.properties[step] : undefined;
    else node = node?.items;
  }
  return node;
}

function allowed(node: Node | undefined): string {
  if (node?.allowed !== undefined) return node.allowed;
  if (node?.enum !== undefined) return `one of ${node.enum.join(", ")}`;
  if (node?.const !== undefined) return JSON.stringify(node.const);
  if (node?.anyOf !== undefined) return node.anyOf.map(allowed).join(" or ");
  switch (node?.type) {
    case "integer":
      return `an integer${range(node)}`;
    case "number":
      return `a number${range(node)}`;
    case "string":
      return `a string${extent(node.minLength, node.maxLength, "characters")}`;
    case "array":
      return `an array${extent(node.minItems, node.maxItems, "entries")}`;
    case "boolean":
      return "true or false";
    case "object":
      return "an object";
    default:
      return "as the API reference says";
  }
}

function range({ minimum, maximum }: Node): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? "" : ` of at most ${maximum}`;
}

function extent(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most} ${unit}`;
  if (least !== undefined) return ` of at least ${least} ${unit}`;
  return most === undefined ? "" : ` of at most ${most} ${unit}`;
}
