import type { FileChannel } from "./errors.ts";
import { Type } from "typebox";
import type { Static } from "typebox";
import { Value } from "typebox/value";
import { LineCounter, parseDocument } from "yaml";
import type { EventType } from "#domain/event-types.ts";
import { channels } from "#domain/conversation/message.ts";
import type { Channel } from "#domain/conversation/message.ts";
import { cannedKeys, spokenLanguages } from "#language/bot-texts/languages.ts";
import { plans, strictnesses } from "#domain/workspace/settings.ts";
import type { DeskSettings, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Rule } from "#domain/workspace/automation.ts";
import type { Skill } from "#domain/workspace/skill.ts";
import { audiencesSchema, tagOf } from "./sections/audiences.ts";
import { savedRepliesSchema } from "./sections/saved-replies.ts";
import { deskSchema } from "./sections/desk.ts";
import { identityKeysOf, identityKeysSchema } from "./sections/identity.ts";
import { closed, text } from "./sections/values.ts";
import type { Fail } from "./sections/values.ts";
import { FileError, UnreadableFile, schemaErrors } from "./errors.ts";
import { fillVariables } from "./variables.ts";
import type { FileErrorLine } from "./errors.ts";
import { allowedAt, describe, offsetOf } from "./positions.ts";
import { hoursOf, hoursSchema, ruleSchema, rulesOf } from "./sections/automation.ts";
import { skillSchema, skillsOf } from "./sections/skills.ts";
import { webhookSchema } from "./sections/webhooks.ts";
import { widgetSchema } from "./sections/widget.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";
import { parseRange } from "#outbound/addresses.ts";

const days = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 90 }), Type.Literal(false)], { description });

const requestLimit = (description: string, maximum = 1_000_000) =>
  Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Literal(false)], { description });

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
    limit_minute: Type.Optional(
      requestLimit(
        "Requests that each API key may make in a minute, on the plan enterprise; false: as many as the plan says.",
      ),
    ),
    limit_day: Type.Optional(
      requestLimit(
        "Requests that each API key may make in a UTC day, on the plan enterprise; false: as many as the plan says.",
        1_000_000_000,
      ),
    ),
    queries_per_month: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Literal("unlimited"), Type.Literal(false)],
        {
          description: "Questions that the workspace may ask over the API in a month; false: as many as the plan says.",
        },
      ),
    ),
    user_limit_minute: Type.Optional(
      requestLimit("Questions that one user may ask over the API in a minute; false: no limit of their own."),
    ),
    user_limit_day: Type.Optional(
      requestLimit("Questions that one user may ask over the API in a UTC day; false: no limit of their own."),
    ),
    audiences: Type.Optional(audiencesSchema),
    identity_public_keys: Type.Optional(identityKeysSchema),
    recrawl_days: Type.Optional(
      days("Days after which a crawled website is gone through again; false: only when it is asked for."),
    ),
    widget: Type.Optional(widgetSchema),
    business_hours: Type.Optional(hoursSchema),
    saved_replies: Type.Optional(savedRepliesSchema),
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

/**
 * Parses and checks the file. Throws {@link UnreadableFile}: everything that is wrong, with line and what is allowed.
 * `needs` "outbound": the caller uses no workspaces, so a variable that only they refer to may be unset; then none are
 * returned.
 */
export function readConfigFile(
  file: string,
  content: string,
  env: Readonly<Record<string, string | undefined>>,
  needs: "all" | "outbound" = "all",
): FileConfig {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, uniqueKeys: true });
  const mistakes: FileErrorLine[] = [];
  const at = (offset: number, message: string): FileErrorLine => ({ line: lines.linePos(offset).line, message });
  const mistakeAt = (offset: number, message: string): FileError => new FileError(file, [at(offset, message)]);
  const report = (offset: number, message: string): void => void mistakes.push(at(offset, message));
  const fail = (offset: number, message: string): never => {
    throw mistakeAt(offset, message);
  };
  /** The first thing wrong with it, and what is read then instead. */
  const attempt = <T>(work: () => T, instead: T): T => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      mistakes.push(...error.mistakes);
      return instead;
    }
  };
  for (const error of document.errors) report(error.pos[0], error.message.split("\n")[0] ?? "this is not YAML");
  if (mistakes.length > 0) throw new UnreadableFile(file, mistakes);
  const unset = fillVariables(document, env);
  const isUnneeded = needs === "outbound" && unset.some(({ section }) => section !== "outbound");
  for (const { name, offset, section } of unset) {
    if (needs === "all" || section === "outbound")
      report(offset, `the environment has no variable ${name}: set it, or write the value here`);
  }
  const value: unknown = document.toJS() ?? {};
  const missing = new Set(unset.map(({ offset }) => at(offset, "").line));
  const wrong = schemaErrors(configFileSchema, value).map(({ path: keys, message, unknown: unknownKey }) => {
    const path = unknownKey === undefined ? keys : [...keys, unknownKey];
    const name = path.join(".") || "the file";
    const said =
      unknownKey === undefined
        ? `${name} ${message}${describe(configFileSchema, keys)}`
        : `${name} is not a setting; ${allowedAt(configFileSchema, keys)}`;
    return { path, mistake: at(offsetOf(document, path), said) };
  });
  // What a missing variable would have said is not known to be wrong.
  const told = wrong.filter(({ mistake }) => !missing.has(mistake.line));
  if (told.length > 0) {
    const accounts = accountsOf(value, (path) => !wrong.some((each) => path.every((key, i) => each.path[i] === key)));
    throw new UnreadableFile(file, [...mistakes, ...told.map(({ mistake }) => mistake)], accounts);
  }
  if (wrong.length > 0 && !isUnneeded) throw new UnreadableFile(file, mistakes);
  const { workspaces = [], outbound } = value as Static<typeof configFileSchema>;
  const read = (isUnneeded ? [] : workspaces).map((given, index) => {
    const channelsOf = (given.channels ?? []).map((channel, place) => accountOf(channel, index, place));
    for (const { name, mistake } of channelsOf.filter(
      (each, place) => channelsOf.findIndex((other) => other.name === each.name) < place,
    )) {
      mistakes.push(...mistake("name", `two channels of this workspace are named ${name}`).mistakes);
    }
    for (const tag of Object.keys(given.audiences ?? {})) {
      const same = Object.keys(given.audiences ?? {}).filter((other) => tagOf(other) === tagOf(tag));
      // Whoever fits either rule would see the documents, which neither rule says.
      if (same[0] !== tag)
        report(offsetIn("audiences", tag), `the tag ${tag} has two rules; tags are the same in any case`);
    }
    if (workspaces.findIndex(({ name }) => name === given.name) < index)
      report(offsetIn("name"), `two workspaces are named ${given.name}`);
    if (given.desk !== undefined) {
      const { kind, account } = given.desk;
      const named = channelsOf.find(({ name }) => name === account);
      if (named?.channel !== kind) {
        report(offsetIn("desk", "account"), `no channel of this workspace is named ${account} and is on ${kind}`);
      }
    }
    const hours = given.business_hours;
    const businessHours =
      hours === undefined ? undefined : attempt(() => hoursOf(hours, failIn("business_hours")), undefined);
    const pem = given.identity_public_keys;
    const identityPublicKeys =
      pem === undefined ? undefined : attempt(() => identityKeysOf(pem, failIn("identity_public_keys")), []);
    const workspace = workspaceOf(given, channelsOf);
    return {
      ...workspace,
      settings: {
        ...workspace.settings,
        ...(businessHours === undefined ? {} : { businessHours }),
        ...(identityPublicKeys === undefined ? {} : { identityPublicKeys }),
      },
      skills: attempt(() => skillsOf(given.skills ?? [], hours !== undefined, failIn("skills")), []),
      rules: attempt(() => rulesOf(given.rules ?? [], hours !== undefined, failIn("rules")), []),
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
    report(offsetOf(document, path), `"${range}" is neither an address nor a range of addresses such as 10.0.0.0/8`);
  }
  const declared = read.flatMap(({ channels: all }) => all);
  if (mistakes.length > 0) throw new UnreadableFile(file, mistakes, declared);
  return { workspaces: read, allowPrivate };

  function accountOf(
    { name, channel, enabled = true, ...config }: Static<typeof channelSchema>,
    index: number,
    place: number,
  ): FileChannel {
    const path = ["workspaces", String(index), "channels", String(place)];
    return {
      name,
      channel,
      enabled,
      config,
      mistake: (setting, message) =>
        mistakeAt(offsetOf(document, [...path, ...(setting === undefined ? [] : [setting])]), message),
    };
  }

  /** The accounts of a file that has mistakes elsewhere. */
  function accountsOf(given: unknown, isRight: (path: readonly string[]) => boolean): readonly FileChannel[] {
    const all = (given as { readonly workspaces?: unknown }).workspaces;
    return (Array.isArray(all) ? all : []).flatMap((workspace: { readonly channels?: unknown } | null, index) => {
      const accounts = workspace?.channels;
      return (Array.isArray(accounts) ? accounts : []).flatMap((channel: unknown, place) =>
        isRight(["workspaces", String(index), "channels", String(place)]) && Value.Check(channelSchema, channel)
          ? [accountOf(channel, index, place)]
          : [],
      );
    });
  }
}

function isRange(range: string): boolean {
  try {
    parseRange(range);
    return true;
  } catch {
    return false;
  }
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
    autoResolveDays: orNone(given.auto_resolve_days),
    autoArchiveDays: orNone(given.auto_archive_days),
    recrawlDays: orNone(given.recrawl_days),
    slaTargets: given.sla,
    savedReplies: given.saved_replies,
    audiences:
      given.audiences === undefined
        ? undefined
        : Object.fromEntries(Object.entries(given.audiences).map(([tag, rule]) => [tagOf(tag), rule])),
    limitMinute: orNone(given.limit_minute),
    limitDay: orNone(given.limit_day),
    queriesPerMonth: given.queries_per_month === false ? null : given.queries_per_month,
    userLimitMinute: orNone(given.user_limit_minute),
    userLimitDay: orNone(given.user_limit_day),
    widgetTitle: given.widget?.title,
    widgetGreeting: given.widget?.greeting,
    widgetColor: given.widget?.color,
    widgetOrigins: given.widget?.origins,
    leadCapture: given.widget?.lead_capture,
    widgetFiles: given.widget?.files,
    widgetFileTypes: given.widget?.file_types,
    widgetFileMb: given.widget?.file_max_mb,
    uploadMbVisitor: orNone(given.widget?.visitor_mb_per_day),
    uploadMbAddress: orNone(given.widget?.address_mb_per_day),
    uploadMbWorkspace: orNone(given.widget?.mb_per_day),
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

/** `false` in the file: none. */
const orNone = (given: number | false | undefined): number | null | undefined => (given === false ? null : given);
