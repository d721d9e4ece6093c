import type { Static } from "typebox";
import { Type } from "typebox";
import { wordsIn } from "#language/phrases.ts";
import type { BuiltinSkill, LookupRequest, LookupSkill, Skill, SkillArgument } from "#domain/workspace/skill.ts";
import { builtinSkills } from "#domain/workspace/skill.ts";
import { placeholdersIn } from "#domain/workspace/skill-template.ts";
import type { Fail } from "./values.ts";
import { closed, oneOrMore, listOf, text } from "./values.ts";

const argumentSchema = closed(
  {
    type: Type.Optional(
      Type.Enum(["string", "integer", "number", "boolean"], { description: "What it is; by default a string." }),
    ),
    description: text("What it is, for the language model.", 300),
    optional: Type.Optional(Type.Boolean({ description: "true: the skill does without it." })),
    choices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: "The only values it can have.",
      }),
    ),
    shape: Type.Optional(
      oneOrMore(
        Type.String({ minLength: 1, maxLength: 60 }),
        "How it is written: # a digit, @ a letter, * either, + behind one of them for one or more, all else as it is. A list: one of these.",
      ),
    ),
    minimum: Type.Optional(Type.Number({ description: "The least that a number can be." })),
    maximum: Type.Optional(Type.Number({ description: "The most that a number can be." })),
    max_length: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Characters at most; 100." })),
    ask: Type.Optional(text("Asked of the customer where it is missing.", 300)),
  },
  "Something that the skill has to be told.",
);

const requestSchema = closed(
  {
    method: Type.Optional(
      Type.Enum(["GET", "POST", "PUT", "PATCH", "DELETE"], { description: "How it is asked; by default GET." }),
    ),
    url: Type.String({
      pattern: "^https?://",
      maxLength: 2_000,
      description:
        "The address, with arguments in braces behind the host; {user.id}, {user.email} and {user.plan} too.",
    }),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" }),
        Type.String({ maxLength: 4_000, pattern: "^[\\t\\x20-\\x7e\\x80-\\xff]*$" }),
        {
          maxProperties: 30,
          description: "Headers, such as authorization: Bearer ${SHOP_KEY}. They are stored encrypted.",
        },
      ),
    ),
    body: Type.Optional(
      Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
        maxProperties: 100,
        description: "Sent as JSON, with arguments in braces in its texts; not with GET.",
      }),
    ),
    safe: Type.Optional(
      Type.Boolean({
        description: "true: it may be asked twice without harm, and is when no answer comes. GET always may.",
      }),
    ),
    timeout_seconds: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 20, description: "How long it is waited for, all tries together; 5." }),
    ),
    bytes_max: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 1_000_000, description: "A longer answer is none; 100000." }),
    ),
  },
  "What is asked.",
);

export const skillSchema = closed(
  {
    name: Type.String({
      pattern: "^[a-z][a-z0-9_]{0,39}$",
      description: "Names the skill in skills_fired and in the audit log: lower-case letters, digits and _.",
    }),
    use: Type.Optional(
      Type.Enum([...builtinSkills], { description: "A skill that is built in; without it, request is needed." }),
    ),
    description: Type.Optional(text("What it does and when it is needed, for the language model.", 500)),
    verified: Type.Optional(Type.Boolean({ description: "true: only for customers whose identity is proven." })),
    request: Type.Optional(requestSchema),
    arguments: Type.Optional(
      Type.Record(Type.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" }), argumentSchema, {
        maxProperties: 20,
        description: "What it has to be told, by name.",
      }),
    ),
    phrases: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 200,
        description: "Words by which it is chosen without a model, with arguments in braces: status of order {order}.",
      }),
    ),
    fields: Type.Optional(
      Type.Array(Type.String({ pattern: "^[^{}\\s]{1,100}$" }), {
        maxItems: 100,
        description: "Which fields of the answer may be used, by their paths, such as order.status; by default all.",
      }),
    ),
    answer: Type.Optional(
      text("What the customer is told, with fields of the answer in braces; business hours: while open, {time}."),
    ),
    not_found: Type.Optional(text("What the customer is told where the server answers 404.")),
    closed: Type.Optional(text("Business hours: what the customer is told while closed, with {day} and {time}.")),
  },
  "Something that the bot can do besides searching the documents.",
);

type Given = Static<typeof skillSchema>;
const userFields = ["user.id", "user.email", "user.plan"];
const builtinDescriptions: Readonly<Record<BuiltinSkill["kind"], string>> = {
  business_hours: "Tells whether somebody of the company's staff is there now, and when next.",
  capture_lead: "Keeps the name, e-mail address or phone number that the customer gives, so that staff can reach them.",
  talk_to_human: "Hands the conversation over to a person, when the customer wants one or needs one.",
};
const builtinArguments: Readonly<Record<BuiltinSkill["kind"], readonly SkillArgument[]>> = {
  business_hours: [],
  capture_lead: [
    { name: "email", type: "string", description: "The customer's e-mail address.", optional: true, maxLength: 190 },
    { name: "phone", type: "string", description: "The customer's phone number.", optional: true, maxLength: 40 },
    { name: "name", type: "string", description: "The customer's name.", optional: true, maxLength: 100 },
  ],
  talk_to_human: [],
};
const builtinPhrases: Readonly<Record<BuiltinSkill["kind"], readonly string[]>> = {
  business_hours: [
    "are you open",
    "opening hours",
    "business hours",
    "when do you open",
    "when are you open",
    "haben sie geöffnet",
    "habt ihr geöffnet",
    "sind sie geöffnet",
    "öffnungszeiten",
    "wann öffnen sie",
    "êtes-vous ouverts",
    "vous êtes ouverts",
    "heures d'ouverture",
    "horaires d'ouverture",
    "están abiertos",
    "horario de apertura",
    "horario de atención",
    "siete aperti",
    "orari di apertura",
    "estão abertos",
    "horário de funcionamento",
    "openingstijden",
    "zijn jullie open",
    "bent u open",
    "öppettider",
    "har ni öppet",
    "åbningstider",
    "har i åbent",
    "åpningstider",
    "har dere åpent",
    "aukioloajat",
    "oletteko auki",
    "часы работы",
    "вы открыты",
    "営業時間",
    "营业时间",
    "영업시간",
  ],
  capture_lead: [
    "my email is {email}",
    "my email address is {email}",
    "email me at {email}",
    "reach me at {email}",
    "contact me at {email}",
    "my phone number is {phone}",
    "call me at {phone}",
    "call me on {phone}",
  ],
  // What escalates by its words is set under escalation.
  talk_to_human: [],
};

/** Reads the skills of a workspace, whose form has been checked. Their requests stand there in the clear. */
export function skillsOf(given: readonly Given[], hasHours: boolean, fail: Fail): readonly Skill[] {
  return given.map((each, at) => {
    const failAt: Fail = (path, message) => fail([at, ...path], message);
    if (each.name === "knowledge_search") failAt(["name"], "knowledge_search is the search of the documents");
    if (given.findIndex(({ name }) => name === each.name) < at) failAt(["name"], `two skills are named ${each.name}`);
    return each.use === undefined ? lookupOf(each, failAt) : builtinOf(each, each.use, hasHours, failAt);
  });
}

function builtinOf(each: Given, kind: BuiltinSkill["kind"], hasHours: boolean, fail: Fail): BuiltinSkill {
  for (const key of ["request", "arguments", "fields", "verified", "not_found"] as const) {
    if (each[key] !== undefined) fail([key], `${key} goes with request, not with use`);
  }
  if (kind === "business_hours" && !hasHours)
    fail(["use"], "business_hours needs the workspace's setting business_hours");
  if (each.closed !== undefined && kind !== "business_hours") fail(["closed"], "closed goes with use: business_hours");
  if (each.answer !== undefined && kind === "talk_to_human")
    fail(["answer"], "what talk_to_human says is the setting messages.handover");
  const args = builtinArguments[kind];
  const phrases = each.phrases ?? builtinPhrases[kind];
  checkPhrases(phrases, args, fail);
  return {
    kind,
    name: each.name,
    description: each.description ?? builtinDescriptions[kind],
    phrases,
    arguments: args,
    answer: each.answer ?? null,
    closed: each.closed ?? null,
  };
}

function lookupOf(each: Given, fail: Fail): LookupSkill {
  const { request } = each;
  if (request === undefined) return fail(["name"], `the skill ${each.name} has neither request nor use`);
  if (each.description === undefined) fail(["name"], `the skill ${each.name} needs a description`);
  if (each.closed !== undefined) fail(["closed"], "closed goes with use: business_hours");
  const args = argumentsOf(each.arguments ?? {}, fail);
  const verified = each.verified ?? false;
  const known = new Set(args.map(({ name }) => name));
  const checkNames = (template: string, path: readonly string[]): void => {
    for (const name of placeholdersIn(template)) {
      if (userFields.includes(name)) {
        if (!verified) fail(path, `{${name}} is known of verified customers only: set verified: true`);
      } else if (!known.has(name)) {
        fail(path, `{${name}} is no argument of this skill; there are: ${[...known, ...userFields].join(", ")}`);
      }
    }
  };
  checkUrl(request.url, fail);
  checkNames(request.url, ["request", "url"]);
  const optional = args.find((arg) => arg.optional && placeholdersIn(request.url).includes(arg.name));
  if (optional !== undefined)
    fail(["request", "url"], `{${optional.name}} is optional, and the address cannot do without it`);
  const { method = "GET", safe = false, body, headers = {} } = request;
  if (body !== undefined && method === "GET") fail(["request", "body"], "a GET request has no body");
  if (safe && method === "GET") fail(["request", "safe"], "a GET request is safe by itself");
  checkNames(JSON.stringify(body ?? null), ["request", "body"]);
  const phrases = each.phrases ?? [];
  checkPhrases(phrases, args, fail);
  for (const arg of args) {
    if (phrases.length === 0 || arg.optional || phrases.every((phrase) => placeholdersIn(phrase).includes(arg.name)))
      continue;
    if (arg.ask === undefined && arg.shapes === undefined && arg.choices === undefined)
      fail(["arguments", arg.name], `not every phrase has {${arg.name}}: give it a shape to find it by, or ask for it`);
  }
  const plain: LookupRequest = { url: request.url, headers, body: body ?? null };
  return {
    kind: "lookup",
    name: each.name,
    description: each.description ?? "",
    verified,
    arguments: args,
    phrases,
    method,
    safe: safe || method === "GET",
    request: JSON.stringify(plain),
    timeoutMs: Math.round((request.timeout_seconds ?? 5) * 1_000),
    bytesMax: request.bytes_max ?? 100_000,
    fields: each.fields ?? [],
    answer: each.answer ?? null,
    notFound: each.not_found ?? null,
  };
}

function checkUrl(url: string, fail: Fail): void {
  const path = ["request", "url"];
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? "";
  if (/[{}]/.test(authority)) fail(path, "an argument cannot be part of the host");
  if (authority.includes("@")) fail(path, "a user name or password in the address is not sent; use headers");
  if (url.includes("#")) fail(path, "what stands behind # is not sent");
  if (URL.parse(url.replaceAll(/\{[^{}]*\}/g, "x")) === null) fail(path, "this is not an address");
}

function argumentsOf(given: NonNullable<Given["arguments"]>, fail: Fail): readonly SkillArgument[] {
  return Object.entries(given).map(([name, each]) => {
    const { type = "string", minimum, maximum } = each;
    const path = ["arguments", name];
    for (const key of ["choices", "shape", "max_length"] as const) {
      if (each[key] !== undefined && type !== "string") fail([...path, key], `${key} goes with strings`);
    }
    for (const key of ["minimum", "maximum"] as const) {
      if (each[key] !== undefined && type !== "integer" && type !== "number")
        fail([...path, key], `${key} goes with numbers`);
    }
    const shapes = listOf(each.shape);
    const wrong = shapes?.find((shape) => /^\+|[^#@*]\+/.test(shape) || !/[#@*]/.test(shape));
    if (wrong !== undefined)
      fail([...path, "shape"], `"${wrong}": use # @ or * at least once, and + only behind one of them`);
    return {
      name,
      type,
      description: each.description,
      optional: each.optional ?? false,
      ...(each.choices === undefined ? {} : { choices: each.choices }),
      ...(shapes === undefined ? {} : { shapes }),
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
      ...(each.max_length === undefined ? {} : { maxLength: each.max_length }),
      ...(each.ask === undefined ? {} : { ask: each.ask }),
    };
  });
}

function checkPhrases(phrases: readonly string[], args: readonly SkillArgument[], fail: Fail): void {
  for (const [at, phrase] of phrases.entries()) {
    if (wordsIn(phrase.replaceAll(/\{[^{}]*\}/g, " ")).words.length === 0)
      fail(["phrases", at], `"${phrase}" has no word besides arguments`);
    const unknown = placeholdersIn(phrase).find((name) => !args.some((arg) => arg.name === name));
    if (unknown !== undefined) fail(["phrases", at], `{${unknown}} is no argument of this skill`);
  }
}
