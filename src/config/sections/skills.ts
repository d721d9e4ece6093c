import type { Static } from "typebox";
import { Type } from "typebox";
import { wordsIn } from "#language/words/phrases.ts";
import type { BuiltinSkill, LookupRequest, LookupSkill, Skill, SkillArgument } from "#domain/workspace/skill.ts";
import { builtinSkills } from "#domain/workspace/skill.ts";
import { placeholdersIn } from "#domain/workspace/skill-template.ts";
import { builtinDescriptions, builtinPhrases } from "./builtin-skills.ts";
import type { Fail } from "./values.ts";
import { closed, oneOrMore, listOf, text } from "./values.ts";

const argumentSchema = closed(
  {
    type: Type.Optional(
      Type.Enum(["string", "integer", "number", "boolean"], { description: "The type; default: string." }),
    ),
    description: text("Description for the language model.", 300),
    optional: Type.Optional(Type.Boolean({ description: "true: the skill works without it." })),
    choices: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 100,
        description: "The allowed values.",
      }),
    ),
    shape: Type.Optional(
      oneOrMore(
        Type.String({ minLength: 1, maxLength: 60 }),
        "How it is written: # a digit, @ a letter, * either, + behind one of them for one or more, all else as it is. A list: one of these.",
      ),
    ),
    minimum: Type.Optional(Type.Number({ description: "The lowest number allowed." })),
    maximum: Type.Optional(Type.Number({ description: "The highest number allowed." })),
    max_length: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 500, description: "Maximum length in characters; default: 100." }),
    ),
    ask: Type.Optional(text("Question to the customer if it is missing.", 300)),
  },
  "Something that the skill has to be told.",
);

export const requestSchema = closed(
  {
    method: Type.Optional(
      Type.Enum(["GET", "POST", "PUT", "PATCH", "DELETE"], { description: "The method; default: GET." }),
    ),
    url: Type.String({
      pattern: "^https?://",
      maxLength: 2_000,
      description:
        "The address. After the host it can have arguments in braces, and {user.id}, {user.email} and {user.plan}.",
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
        description: "The JSON body, whose texts can have arguments in braces; not with GET.",
      }),
    ),
    safe: Type.Optional(
      Type.Boolean({
        description: "true: the request can be repeated safely and is retried. GET always is.",
      }),
    ),
    timeout_seconds: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 20, description: "Time limit for all tries together; default: 5." }),
    ),
    bytes_max: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 1_000_000, description: "Maximum size of the answer; default: 100000." }),
    ),
  },
  "What is asked.",
);

export const skillSchema = closed(
  {
    name: Type.String({
      pattern: "^[a-z][a-z0-9_]{0,39}$",
      description: "Name in skills_fired and in the audit log: lower-case letters, digits and _.",
    }),
    enabled: Type.Optional(Type.Boolean({ description: "false: the skill is not used." })),
    use: Type.Optional(
      Type.Enum([...builtinSkills], { description: "A built-in skill; without it, request is required." }),
    ),
    description: Type.Optional(text("Purpose of the skill, for the language model.", 500)),
    verified: Type.Optional(Type.Boolean({ description: "true: only for customers whose identity is proven." })),
    request: Type.Optional(requestSchema),
    arguments: Type.Optional(
      Type.Record(Type.String({ pattern: "^[a-z][a-z0-9_]{0,39}$" }), argumentSchema, {
        maxProperties: 20,
        description: "Arguments by name.",
      }),
    ),
    phrases: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 200,
        description: "Phrases that select it without a model, with arguments in braces: status of order {order}.",
      }),
    ),
    fields: Type.Optional(
      Type.Array(Type.String({ pattern: "^[^{}\\s]{1,100}$" }), {
        maxItems: 100,
        description: "Paths of the answer's fields that may be used, such as order.status; default: all.",
      }),
    ),
    answer: Type.Optional(
      text("Reply to the customer, with fields of the answer in braces; business hours: while open, with {time}."),
    ),
    not_found: Type.Optional(text("Reply to the customer if the server answers 404.")),
    closed: Type.Optional(text("Business hours: reply to the customer while closed, with {day} and {time}.")),
  },
  "Something that the bot can do besides searching the documents.",
);

type Given = Static<typeof skillSchema>;
const userFields = ["user.id", "user.email", "user.plan"];
const builtinArguments: Readonly<Record<BuiltinSkill["kind"], readonly SkillArgument[]>> = {
  business_hours: [],
  capture_lead: [
    { name: "email", type: "string", description: "The customer's e-mail address.", optional: true, maxLength: 190 },
    { name: "phone", type: "string", description: "The customer's phone number.", optional: true, maxLength: 40 },
    { name: "name", type: "string", description: "The customer's name.", optional: true, maxLength: 100 },
  ],
  talk_to_human: [],
};
/** Checks and returns the skills of a workspace, with unencrypted requests. Their form has been checked by the schema. */
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
    fail(["answer"], "the reply of talk_to_human is the setting messages.handover");
  const args = builtinArguments[kind];
  const phrases = each.phrases ?? builtinPhrases[kind];
  checkPhrases(phrases, args, fail);
  return {
    kind,
    name: each.name,
    ...(each.enabled === false ? { enabled: false } : {}),
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
        if (!verified) fail(path, `{${name}} is known for verified customers only: set verified: true`);
      } else if (!known.has(name)) {
        fail(
          path,
          `{${name}} is not an argument of this skill; the arguments are: ${[...known, ...userFields].join(", ")}`,
        );
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
    ...(each.enabled === false ? { enabled: false } : {}),
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
  if (url.includes("#")) fail(path, "the part after # is not sent");
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
