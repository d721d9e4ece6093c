import { Type } from "typebox";
import type { Static } from "typebox";
import { Value } from "typebox/value";
import { LineCounter, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Document } from "yaml";
import type { EventType } from "#domain/events.ts";
import { channels } from "#domain/message.ts";
import type { Channel } from "#domain/message.ts";
import { cannedKeys, spokenLanguages } from "#domain/spoken.ts";
import { plans, strictnesses } from "#domain/workspace.ts";
import type { DeskSettings, WorkspaceSettings } from "#domain/workspace.ts";
import type { Rule } from "#domain/automation.ts";
import type { Skill } from "#domain/skill.ts";
import { deskSchema } from "./desk.ts";
import { closed, text } from "./parts.ts";
import type { Fail } from "./parts.ts";
import { hoursOf, hoursSchema, ruleSchema, rulesOf } from "./rules.ts";
import { skillSchema, skillsOf } from "./skills.ts";
import { webhookSchema } from "./webhooks.ts";
import type { AllowPrivate } from "../outbound/addresses.ts";
import { parseRange } from "../outbound/addresses.ts";

const days = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 90 }), Type.Literal(false)], { description });

const userLimit = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000 }), Type.Literal(false)], { description });

const minutes = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  description: "Minutes until a conversation has waited too long.",
});

/** Every workspace has an account of each of these from its beginning. */
const builtinChannels: ReadonlySet<string> = new Set<Channel>(["widget", "hosted", "api"]);

const channelSchema = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z0-9][a-z0-9-]{0,59}$",
      description: "Names the account: lower-case letters, digits and hyphens. Another name is another account.",
    }),
    channel: Type.Enum(
      channels.filter((channel) => !builtinChannels.has(channel)),
      { description: "Which platform it connects to." },
    ),
    enabled: Type.Optional(Type.Boolean({ description: "false: nothing is received or sent." })),
  },
  { description: "An account on a platform, with the platform's own settings; docs/channels.md lists them." },
);

const translationSchema = closed(
  Object.fromEntries(cannedKeys.map((key) => [key, Type.Optional(text("{bot} in it is the bot's name."))])),
  "Sentences of one language; what is absent is built in.",
);

const workspaceSchema = closed(
  {
    name: text("Names the workspace; the workspace of this name is made when there is none.", 200),
    plan: Type.Optional(Type.Enum([...plans], { description: "Which limits its keys have." })),
    bot_name: Type.Optional(text("The name customers see on the bot's answers.", 80)),
    strictness: Type.Optional(
      Type.Enum([...strictnesses], {
        description: "strict answers only when it is sure; helpful also when it may be right.",
      }),
    ),
    answers: Type.Optional(
      closed(
        {
          synonyms: Type.Optional(
            Type.Array(
              Type.Array(text("A word or a phrase.", 100), {
                minItems: 2,
                maxItems: 30,
                description: "Words and phrases that mean the same.",
              }),
              { maxItems: 500, description: "The workspace's own synonyms, besides the built-in ones." },
            ),
          ),
        },
        "How answers are found.",
      ),
    ),
    messages: Type.Optional(
      closed(
        {
          handover: Type.Optional(text("Said once when the conversation goes to people.")),
          files_only: Type.Optional(text("Said to a message of files without a word, which the bot cannot read.")),
          unknown: Type.Optional(text("Said when the documents hold no answer.")),
          waiting: Type.Optional(text("What an API client is answered while a person has the conversation.")),
          translations: Type.Optional(
            Type.Record(Type.String({ pattern: `^(?:${spokenLanguages.join("|")})$` }), translationSchema, {
              additionalProperties: false,
              description: `Sentences in a customer's language, by its code: ${spokenLanguages.join(", ")}.`,
            }),
          ),
          lookup_failed: Type.Optional(text("Said when a look-up could not be made.")),
          lookup_unsure: Type.Optional(text("Said when it is not known whether a call was carried out.")),
          lookup_unverified: Type.Optional(text("Said when a look-up is for verified customers, and this one is not.")),
        },
        "Sentences that the bot says by itself.",
      ),
    ),
    escalation: Type.Optional(
      closed(
        {
          phrases: Type.Optional(
            Type.Array(text("A phrase by which a customer asks for a person.", 200), {
              maxItems: 500,
              description: "Replaces the built-in phrases.",
            }),
          ),
          low_answers: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 20,
              description: "How many answers of low confidence in a row escalate.",
            }),
          ),
          anger: Type.Optional(
            Type.Union([Type.Number({ minimum: 0.1, maximum: 1 }), Type.Literal(false)], {
              description: "How angry or frustrated a message has to be to escalate, 0.1 to 1; false: it never does.",
            }),
          ),
          anger_by: Type.Optional(
            Type.Enum(["words", "model"], {
              description: "Who judges that: a list of words, or the language model where there is one.",
            }),
          ),
        },
        "When the bot hands over.",
      ),
    ),
    sla: Type.Optional(
      closed(
        {
          urgent: Type.Optional(minutes),
          high: Type.Optional(minutes),
          normal: Type.Optional(minutes),
          low: Type.Optional(minutes),
        },
        "Target of the time in open and escalated, in minutes, by priority.",
      ),
    ),
    auto_resolve_days: Type.Optional(
      days("Days without a message after which an open conversation is resolved; false: never."),
    ),
    auto_archive_days: Type.Optional(days("Days after which a resolved conversation is archived; false: never.")),
    user_limit_minute: Type.Optional(
      userLimit("Questions that one user may ask over the API in a minute; false: no limit of their own."),
    ),
    user_limit_day: Type.Optional(
      userLimit("Questions that one user may ask over the API in a UTC day; false: no limit of their own."),
    ),
    audiences: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1, maxLength: 64 }),
        Type.Record(
          Type.String({ minLength: 1, maxLength: 64 }),
          Type.Array(Type.Union([Type.String({ maxLength: 190 }), Type.Number(), Type.Boolean()]), {
            minItems: 1,
            maxItems: 100,
            description: "Accepted values of this attribute of a verified user.",
          }),
          { maxProperties: 20, description: "Attributes that a verified user must have to see documents of this tag." },
        ),
        { maxProperties: 200, description: "Who sees the documents that carry an audience tag, by tag." },
      ),
    ),
    recrawl_days: Type.Optional(
      days("Days after which a crawled website is gone through again; false: only when it is asked for."),
    ),
    widget: Type.Optional(
      closed(
        {
          title: Type.Optional(text("Heading of the chat.", 80)),
          greeting: Type.Optional(text("What the chat says before the first question.", 500)),
          color: Type.Optional(Type.String({ pattern: "^#[0-9a-fA-F]{6}$", description: "Accent colour, #rrggbb." })),
          origins: Type.Optional(
            Type.Array(Type.String({ pattern: "^https?://[^/]+$", maxLength: 300 }), {
              maxItems: 200,
              description: "Sites that may embed the widget, such as https://shop.example; none: any site.",
            }),
          ),
          lead_capture: Type.Optional(
            Type.Enum(["off", "on_handover"], {
              description: "Whether an anonymous visitor is asked for name and e-mail address.",
            }),
          ),
          files: Type.Optional(Type.Boolean({ description: "Whether customers may send files in the chat." })),
          file_types: Type.Optional(
            Type.Array(Type.String({ pattern: "^[a-z]+/([a-z0-9][a-z0-9.+-]*|\\*)$", maxLength: 100 }), {
              maxItems: 100,
              description:
                "Media types of files that customers may send, such as image/* or application/pdf; none: any.",
            }),
          ),
          file_max_mb: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1_024,
              description: "The largest file that a customer may send, where less than FILES_MAX_MB.",
            }),
          ),
        },
        "The chat on the website and the hosted chat page.",
      ),
    ),
    business_hours: Type.Optional(hoursSchema),
    skills: Type.Optional(
      Type.Array(skillSchema, { maxItems: 50, description: "What the bot can do besides searching the documents." }),
    ),
    rules: Type.Optional(
      Type.Array(ruleSchema, { maxItems: 200, description: "What happens by itself, in this order." }),
    ),
    webhooks: Type.Optional(
      Type.Array(webhookSchema, {
        maxItems: 50,
        description: "Servers that are told of events. One that is taken out of the list is disabled.",
      }),
    ),
    desk: Type.Optional(deskSchema),
    channels: Type.Optional(
      Type.Array(channelSchema, { maxItems: 100, description: "Accounts on the platforms that customers write from." }),
    ),
  },
  "A workspace: one company, or one brand of it.",
);

const outboundSchema = closed(
  {
    allow_private: Type.Optional(
      Type.Union(
        [Type.Boolean(), Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 200 })],
        {
          description:
            "Which addresses besides public ones may be reached: false, true for all private ones, or a list such as 10.0.0.0/8 and 127.0.0.1.",
        },
      ),
    ),
  },
  "Requests to addresses that somebody else chooses, such as those of webhooks.",
);

/** What the configuration file can hold. `config/schema.json` is made of it, for editors. */
export const configFileSchema = closed(
  {
    workspaces: Type.Optional(Type.Array(workspaceSchema, { maxItems: 200 })),
    outbound: Type.Optional(outboundSchema),
  },
  "Configuration of Parley. ${NAME} in a text is replaced by that variable of the environment.",
);

/** An account that the file declares. What the platform needs is checked by its adapter, which is loaded later. */
export interface FileChannel {
  readonly name: string;
  readonly channel: Channel;
  readonly enabled: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** An error that names file and line of this setting of it; without one, of the account. */
  mistake(setting: string | undefined, message: string): Error;
}

export interface FileWorkspace {
  readonly name: string;
  readonly channels: readonly FileChannel[];
  readonly plan: (typeof plans)[number] | undefined;
  readonly settings: Partial<WorkspaceSettings>;
  readonly webhooks?: readonly FileWebhook[];
  /** Null or absent: none. */
  readonly desk?: DeskSettings | null;
  /** With their requests in the clear. */
  readonly skills?: readonly Skill[];
  readonly rules?: readonly Rule[];
}

export interface FileWebhook {
  readonly url: string;
  readonly events?: readonly EventType[];
  readonly secret?: string;
}

export interface FileConfig {
  readonly workspaces: readonly FileWorkspace[];
  /** Which addresses besides public ones may be reached; absent: none. */
  readonly allowPrivate?: AllowPrivate;
}

/** Parses and checks the file. Throws an Error that names file, line, what is wrong and what is allowed. */
export function readConfigFile(
  file: string,
  content: string,
  env: Readonly<Record<string, string | undefined>>,
): FileConfig {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, uniqueKeys: true });
  const mistakeAt = (offset: number, message: string): Error =>
    new Error(`${file}, line ${lines.linePos(offset).line}: ${message}`);
  const fail = (offset: number, message: string): never => {
    throw mistakeAt(offset, message);
  };
  const [error] = document.errors;
  if (error !== undefined) fail(error.pos[0], error.message.split("\n")[0] ?? "this is not YAML");
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string") return;
      node.value = node.value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_match, name: string) => {
        const value = env[name];
        return value ?? fail(node.range?.[0] ?? 0, `the environment has no variable ${name}`);
      });
    },
  });
  const value: unknown = document.toJS() ?? {};
  const mistakes = Value.Errors(configFileSchema, value);
  // A key that does not exist comes with an error of its own value's, which says nothing.
  const mistake = mistakes.find(({ keyword }) => keyword !== "boolean");
  if (mistake !== undefined) {
    const keys = mistake.instancePath.split("/").slice(1);
    const params = mistake.params as {
      readonly additionalProperties?: readonly string[];
      readonly allowedValues?: readonly unknown[];
    };
    const [unknownKey] = params.additionalProperties ?? [];
    const path = unknownKey === undefined ? keys : [...keys, unknownKey];
    const name = path.join(".") || "the file";
    const allowed =
      params.allowedValues === undefined ? mistake.message : `must be one of ${params.allowedValues.join(", ")}`;
    fail(
      offsetOf(document, path),
      unknownKey === undefined ? `${name} ${allowed}${describe(keys)}` : `${name} is not a setting; ${allowedAt(keys)}`,
    );
  }
  const { workspaces = [], outbound } = value as Static<typeof configFileSchema>;
  const read = workspaces.map((given, index) => {
    const path = ["workspaces", String(index), "channels"];
    const channelsOf = (given.channels ?? []).map(({ name, channel, enabled = true, ...config }, at): FileChannel => ({
      name,
      channel,
      enabled,
      config,
      mistake: (setting, message) =>
        mistakeAt(offsetOf(document, [...path, String(at), ...(setting === undefined ? [] : [setting])]), message),
    }));
    const [twice] = channelsOf.filter(({ name }, at) => channelsOf.findIndex((other) => other.name === name) < at);
    if (twice !== undefined) throw twice.mistake("name", `two channels of this workspace are named ${twice.name}`);
    for (const tag of Object.keys(given.audiences ?? {})) {
      const same = Object.keys(given.audiences ?? {}).filter((other) => tagOf(other) === tagOf(tag));
      // Whoever fits either rule would see the documents, which neither rule says.
      if (same[0] !== tag)
        fail(offsetIn("audiences", tag), `the tag ${tag} has two rules; tags are the same in any case`);
    }
    if (workspaces.findIndex(({ name }) => name === given.name) < index)
      fail(offsetIn("name"), `two workspaces are named ${given.name}`);
    if (given.desk !== undefined) {
      const { kind, account } = given.desk;
      const named = channelsOf.find(({ name }) => name === account);
      if (named?.channel !== kind) {
        fail(offsetIn("desk", "account"), `no channel of this workspace is named ${account} and is on ${kind}`);
      }
    }
    const hours = given.business_hours;
    const businessHours = hours === undefined ? undefined : hoursOf(hours, failIn("business_hours"));
    const workspace = workspaceOf(given, channelsOf);
    return {
      ...workspace,
      settings: { ...workspace.settings, ...(businessHours === undefined ? {} : { businessHours }) },
      skills: skillsOf(given.skills ?? [], hours !== undefined, failIn("skills")),
      rules: rulesOf(given.rules ?? [], hours !== undefined, failIn("rules")),
    };

    function failIn(setting: string): Fail {
      return (keys, message) => fail(offsetIn(setting, ...keys.map(String)), message);
    }

    function offsetIn(...keys: readonly string[]): number {
      return offsetOf(document, ["workspaces", String(index), ...keys]);
    }
  });
  const allowPrivate = outbound?.allow_private ?? false;
  for (const [i, range] of (typeof allowPrivate === "boolean" ? [] : allowPrivate).entries()) {
    if (isRange(range)) continue;
    const path = ["outbound", "allow_private", String(i)];
    fail(offsetOf(document, path), `"${range}" is neither an address nor a range of addresses such as 10.0.0.0/8`);
  }
  return { workspaces: read, allowPrivate };
}

/** As tags are stored and compared. */
const tagOf = (tag: string): string => tag.trim().toLowerCase();

function isRange(range: string): boolean {
  try {
    parseRange(range);
    return true;
  } catch {
    return false;
  }
}

function offsetOf(document: Document, path: readonly string[]): number {
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

function schemaAt(path: readonly string[]): unknown {
  let schema: unknown = configFileSchema;
  for (const key of path) {
    const { properties, items } = (schema ?? {}) as {
      readonly properties?: Record<string, unknown>;
      readonly items?: unknown;
    };
    schema = properties?.[key] ?? items;
  }
  return schema;
}

function describe(path: readonly string[]): string {
  const { description } = (schemaAt(path) ?? {}) as { readonly description?: string };
  return description === undefined ? "" : `. ${description}`;
}

function allowedAt(path: readonly string[]): string {
  const { properties, description } = (schemaAt(path) ?? {}) as {
    readonly properties?: object;
    readonly description?: string;
  };
  return `allowed here: ${properties === undefined ? description : Object.keys(properties).join(", ")}`;
}

function workspaceOf(given: Static<typeof workspaceSchema>, channelsOf: readonly FileChannel[]): FileWorkspace {
  const settings: Record<string, unknown> = {
    strictness: given.strictness,
    botName: given.bot_name,
    synonyms: given.answers?.synonyms,
    handoverMessage: given.messages?.handover,
    filesOnlyMessage: given.messages?.files_only,
    unknownMessage: given.messages?.unknown,
    waitingMessage: given.messages?.waiting,
    translations: given.messages?.translations,
    escalationPhrases: given.escalation?.phrases,
    lowAnswersToEscalate: given.escalation?.low_answers,
    angerToEscalate: given.escalation?.anger === false ? null : given.escalation?.anger,
    angerJudgedBy: given.escalation?.anger_by,
    lookupFailedMessage: given.messages?.lookup_failed,
    lookupUnsureMessage: given.messages?.lookup_unsure,
    lookupUnverifiedMessage: given.messages?.lookup_unverified,
    autoResolveDays: given.auto_resolve_days === false ? null : given.auto_resolve_days,
    autoArchiveDays: given.auto_archive_days === false ? null : given.auto_archive_days,
    recrawlDays: given.recrawl_days === false ? null : given.recrawl_days,
    slaTargets: given.sla,
    audiences:
      given.audiences === undefined
        ? undefined
        : Object.fromEntries(Object.entries(given.audiences).map(([tag, rule]) => [tagOf(tag), rule])),
    userLimitMinute: given.user_limit_minute === false ? null : given.user_limit_minute,
    userLimitDay: given.user_limit_day === false ? null : given.user_limit_day,
    widgetTitle: given.widget?.title,
    widgetGreeting: given.widget?.greeting,
    widgetColor: given.widget?.color,
    widgetOrigins: given.widget?.origins,
    leadCapture: given.widget?.lead_capture,
    widgetFiles: given.widget?.files,
    widgetFileTypes: given.widget?.file_types,
    widgetFileMb: given.widget?.file_max_mb,
  };
  const set = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const { desk } = given;
  return {
    name: given.name,
    plan: given.plan,
    settings: set,
    channels: channelsOf,
    webhooks: given.webhooks ?? [],
    desk:
      desk === undefined
        ? null
        : {
            account: desk.account,
            channel: desk.channel,
            mirror: desk.mirror ?? "escalated",
            replyMode: desk.reply_mode ?? "implicit",
          },
  };
}
