/** A JSON schema of an object, as the server sends it. Unknown keywords are ignored: the server checks the values. */
export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export type JsonObject = Readonly<Record<string, unknown>>;

interface Shown {
  readonly key: string;
  readonly label: string;
  readonly hint: string | undefined;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

/** A field of the form. `own` of a choice: the schema of values that are none of the choices. */
export type SchemaField = Shown &
  (
    | { readonly kind: "text" | "long-text" | "secret" | "number" | "integer" | "yes-no" | "list" | "pairs" }
    | { readonly kind: "choice"; readonly choices: readonly unknown[]; readonly own: JsonSchema | undefined }
    | { readonly kind: "group"; readonly fields: readonly SchemaField[] }
  );

const longTextChars = 500;

/** Fields for the members of an object. `secrets`: paths of members that are written only, such as "smtp.password". */
export function fieldsOf(schema: JsonSchema, secrets: readonly string[], prefix = ""): readonly SchemaField[] {
  return Object.entries(schema.properties ?? {}).map(([key, member]): SchemaField => {
    const path = prefix + key;
    const shown: Shown = {
      key,
      label: member.title ?? labelOf(key),
      hint: member.description,
      isRequired: schema.required?.includes(key) === true,
      schema: member,
    };
    if (secrets.includes(path)) return { ...shown, kind: "secret" };
    const choice = choicesOf(member);
    if (choice !== undefined) return { ...shown, kind: "choice", ...choice };
    if (member.properties !== undefined) {
      return { ...shown, kind: "group", fields: fieldsOf(member, secrets, `${path}.`) };
    }
    return { ...shown, kind: plainKind(member) };
  });
}

function plainKind({
  type,
  maxLength = 0,
}: JsonSchema): "text" | "long-text" | "number" | "integer" | "yes-no" | "list" | "pairs" {
  switch (type) {
    case "number":
    case "integer":
      return type;
    case "boolean":
      return "yes-no";
    case "array":
      return "list";
    case "object":
      return "pairs";
    default:
      return maxLength > longTextChars ? "long-text" : "text";
  }
}

/** The values to choose from, where the schema names some. */
function choicesOf({ enum: named, anyOf, oneOf, ...schema }: JsonSchema) {
  if (named !== undefined) return { choices: named, own: undefined };
  if (schema.const !== undefined) return { choices: [schema.const], own: undefined };
  const variants = anyOf ?? oneOf;
  if (variants === undefined) return undefined;
  const choices = variants.flatMap((variant) => variant.enum ?? (variant.const === undefined ? [] : [variant.const]));
  return { choices, own: variants.find((variant) => variant.const === undefined && variant.enum === undefined) };
}

const acronyms = /^(?:api|au|eu|ftp|html|http|https|id|imap|ip|json|oauth|sip|sla|sms|smtp|ssl|tls|ui|uri|url|us)$/u;

/** "imap_host" or "imapHost" becomes "IMAP host". */
export function labelOf(key: string): string {
  const words = key
    .replace(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .toLowerCase()
    .split(/[_-]+/u)
    .map((word) => (acronyms.test(word) ? word.toUpperCase().replace("OAUTH", "OAuth") : word));
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Without texts, lists and objects that are empty: the server takes a missing member as its default. */
export function withoutEmpty(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const kept = isObject(member) ? withoutEmpty(member) : member;
      return isEmpty(kept) ? [] : [[key, kept]];
    }),
  );
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** "name=value", one a line. */
export const pairsText = (value: unknown): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, text]) => `${name}=${String(text)}`)
        .join("\n")
    : "";

export const pairsOf = (text: string): JsonObject =>
  Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const [, name, value] = /^\s*([^=]+?)\s*=\s*(.*?)\s*$/u.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ""]];
    }),
  );
