/** A skill as `/admin/v1/skills` sends it: in the form of the configuration file, without the values of headers. */
export interface Skill {
  readonly name: string;
  readonly enabled?: boolean;
  readonly use?: string;
  readonly description?: string;
  readonly verified?: boolean;
  readonly request?: {
    readonly method?: string;
    readonly url: string;
    /** Null: the server keeps the value that it has. */
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: unknown;
    readonly safe?: boolean;
    readonly timeout_seconds?: number;
    readonly bytes_max?: number;
  };
  readonly arguments?: Readonly<Record<string, SkillArgument>>;
  readonly phrases?: readonly string[];
  readonly fields?: readonly string[];
  readonly answer?: string;
  readonly not_found?: string;
  readonly closed?: string;
}

export interface SkillArgument {
  readonly type?: string;
  readonly description: string;
  readonly optional?: boolean;
  readonly choices?: readonly string[];
  /** One or several. */
  readonly shape?: string | readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly max_length?: number;
  readonly ask?: string;
}

export interface SkillList {
  readonly skills: readonly Skill[];
  readonly managed_by_file: boolean;
}

export interface HeaderRow {
  readonly name: string;
  /** Undefined: the server keeps the value that it has. */
  readonly value: string | undefined;
  readonly isSet: boolean;
}

export interface ArgumentRow {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly optional: boolean;
  readonly choices: readonly string[];
  readonly shape: readonly string[];
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly max_length: number | null;
  readonly ask: string;
}

/** A skill in the fields of its form. */
export interface SkillValues {
  readonly name: string;
  readonly enabled: boolean;
  /** "request", or the name of a built-in skill. */
  readonly kind: string;
  readonly description: string;
  readonly verified: boolean;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderRow[];
  /** JSON. */
  readonly body: string;
  readonly safe: boolean;
  readonly timeout_seconds: number | null;
  readonly bytes_max: number | null;
  readonly arguments: readonly ArgumentRow[];
  /** One a line. */
  readonly phrases: string;
  readonly fields: readonly string[];
  readonly answer: string;
  readonly not_found: string;
  readonly closed: string;
}

export const newArgument: ArgumentRow = {
  name: "",
  type: "string",
  description: "",
  optional: false,
  choices: [],
  shape: [],
  minimum: null,
  maximum: null,
  max_length: null,
  ask: "",
};

export function valuesOf(skill: Skill): SkillValues {
  const { request } = skill;
  return {
    name: skill.name,
    enabled: skill.enabled !== false,
    kind: skill.use ?? "request",
    description: skill.description ?? "",
    verified: skill.verified === true,
    method: request?.method ?? "GET",
    url: request?.url ?? "",
    headers: Object.keys(request?.headers ?? {}).map((name) => ({ name, value: undefined, isSet: true })),
    body: request?.body === undefined || request.body === null ? "" : JSON.stringify(request.body, null, 2),
    safe: request?.safe === true,
    timeout_seconds: request?.timeout_seconds ?? 5,
    bytes_max: request?.bytes_max ?? 100_000,
    arguments: Object.entries(skill.arguments ?? {}).map(([name, given]) => ({
      ...newArgument,
      ...given,
      name,
      shape: [given.shape ?? []].flat(),
    })),
    phrases: (skill.phrases ?? []).join("\n"),
    fields: skill.fields ?? [],
    answer: skill.answer ?? "",
    not_found: skill.not_found ?? "",
    closed: skill.closed ?? "",
  };
}

/** The skill as the API takes it. Throws an Error for a body that is no JSON. */
export function skillOf(values: SkillValues): Skill {
  const { name, enabled, kind, description } = values;
  const phrases = linesOf(values.phrases);
  const base = {
    name,
    ...(!enabled && { enabled }),
    ...textOf("description", description),
    ...(phrases.length > 0 && { phrases }),
    ...(kind !== "talk_to_human" && textOf("answer", values.answer)),
  };
  if (kind !== "request")
    return { ...base, use: kind, ...(kind === "business_hours" && textOf("closed", values.closed)) };
  return {
    ...base,
    ...(values.verified && { verified: true }),
    request: requestOf(values),
    ...(values.arguments.length > 0 && {
      arguments: Object.fromEntries(values.arguments.map((row) => [row.name, argumentOf(row)])),
    }),
    ...(values.fields.length > 0 && { fields: values.fields }),
    ...textOf("not_found", values.not_found),
  };
}

function requestOf(values: SkillValues): NonNullable<Skill["request"]> {
  const { method, url, headers, safe, timeout_seconds: seconds, bytes_max: bytes } = values;
  const isGet = method === "GET";
  return {
    method,
    url,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map(({ name, value, isSet }) => [name, value ?? (isSet ? null : "")])),
    }),
    ...(!isGet && values.body.trim() !== "" && { body: bodyOf(values.body) }),
    ...(!isGet && safe && { safe }),
    ...(seconds !== null && { timeout_seconds: seconds }),
    ...(bytes !== null && { bytes_max: bytes }),
  };
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`body: this is not JSON: ${error instanceof Error ? error.message : ""}`, { cause: error });
  }
}

/** Members that do not go with the type are left out. */
function argumentOf({ type, description, optional, ask, ...limits }: ArgumentRow): SkillArgument {
  const isText = type === "string";
  const isNumber = type === "integer" || type === "number";
  const { choices, shape, minimum, maximum, max_length: maxLength } = limits;
  return {
    ...(!isText && { type }),
    description,
    ...(optional && { optional }),
    ...(isText && choices.length > 0 && { choices }),
    ...(isText && shape.length > 0 && { shape }),
    ...(isText && maxLength !== null && { max_length: maxLength }),
    ...(isNumber && minimum !== null && { minimum }),
    ...(isNumber && maximum !== null && { maximum }),
    ...textOf("ask", ask),
  };
}

const textOf = (key: string, text: string): Readonly<Record<string, string>> =>
  text.trim() === "" ? {} : { [key]: text };

const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const kinds: Readonly<Record<string, string>> = {
  business_hours: "Says whether the team is available",
  capture_lead: "Stores the customer's address",
  talk_to_human: "Lets the model hand over to people",
};

export const kindOptions = [
  { value: "request", label: "Asks a server of your company" },
  ...Object.entries(kinds).map(([value, label]) => ({ value, label })),
];

/** The skill in a few words. */
export function describeSkill({ use, request, description }: Skill): string {
  if (use !== undefined) return kinds[use] ?? use;
  return `${description ?? ""} (${request?.method ?? "GET"} ${URL.parse(request?.url ?? "")?.host ?? ""})`;
}
