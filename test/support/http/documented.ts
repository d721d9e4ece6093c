import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";
import { dereference } from "#http/openapi/components.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema: object }>>;
        readonly "x-error-codes"?: readonly string[];
      }
    >
  >;
}

/** Throws when a response is not one that the API reference has for this path and method. */
export type DocumentedCheck = (method: string, path: string, status: number, body: unknown) => void;

/** Takes the text of `/openapi.json`. Paths and methods that it does not describe are not checked. */
export function createDocumentedCheck(openapi: string): DocumentedCheck {
  const { paths } = dereference(JSON.parse(openapi) as Document);
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map<object, ValidateFunction>();
  // A literal path takes precedence over one with a parameter.
  const routes = Object.entries(paths)
    .toSorted(([a], [b]) => Number(a.includes("{")) - Number(b.includes("{")))
    .map(([path, operations]) => ({ pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, "[^/]+")}$`), operations }));

  return function check(method, path, status, body) {
    const bare = path.split("?", 1)[0] ?? "";
    const operation = routes.find(({ pattern }) => pattern.test(bare))?.operations[method.toLowerCase()];
    if (operation === undefined) return;
    const response = operation.responses[String(status)];
    if (response === undefined)
      throw new Error(`${method} ${bare} answered ${status}, which the reference does not name`);
    const schema = response.content?.["application/json"]?.schema;
    if (schema === undefined || typeof body === "string") return;
    const { code } = body as { readonly code?: string };
    if (code !== undefined && response["x-error-codes"]?.includes(code) === false) {
      throw new Error(`${method} ${bare} answered ${code}, which the reference does not name`);
    }
    const validate = validators.get(schema) ?? ajv.compile(schema);
    validators.set(schema, validate);
    if (!validate(body)) {
      throw new Error(
        `${method} ${bare} ${status} is not as documented: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
      );
    }
  };
}
