import { Type } from "typebox";
import { channels, channelsWith, hasTrait } from "#channels/catalog.ts";
import { plans, retentionDaysMax, strictnesses } from "#domain/workspace/settings.ts";
import { spokenLanguages } from "#language/locale.ts";
import { cannedKeys } from "#language/text-keys.ts";
import { hoursSchema, ruleSchema } from "./sections/automation.ts";
import { audiencesSchema } from "./sections/audiences.ts";
import { deskSchema } from "./sections/desk.ts";
import { articleSchema, websiteSchema } from "./sections/documents.ts";
import { identityKeysSchema } from "./sections/identity.ts";
import { macroSchema } from "./sections/macros.ts";
import { savedRepliesSchema } from "./sections/saved-replies.ts";
import { singleSignOnSchema } from "./sections/single-sign-on.ts";
import { skillSchema } from "./sections/skills.ts";
import { agentSchema, teamSchema } from "./sections/people.ts";
import { closed, text } from "./sections/values.ts";
import { webhookSchema } from "./sections/webhooks.ts";
import { widgetSchema } from "./sections/widget.ts";

const days = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1, maximum: 90 }), Type.Literal(false)], { description });

const requestLimit = (description: string, maximum = 1_000_000) =>
  Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Literal(false)], { description });

const minutes = Type.Integer({
  minimum: 1,
  maximum: 100_000,
  description: "Minutes that a conversation may wait.",
});

export const channelSchema = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z0-9][a-z0-9-]{0,59}$",
      description: "Name of the account: lower-case letters, digits and hyphens. A new name creates a new account.",
    }),
    channel: Type.Enum(
      channels.filter((channel) => !hasTrait(channel, "builtin")),
      { description: "The platform." },
    ),
    enabled: Type.Optional(Type.Boolean({ description: "false: nothing is received or sent." })),
  },
  { description: "An account on a platform, with the platform's own settings; docs/channels.md lists them." },
);

const translationSchema = closed(
  Object.fromEntries(cannedKeys.map((key) => [key, Type.Optional(text("{bot} in it is the bot's name."))])),
  "Sentences in one language; absent ones are built in.",
);

const workspaceDescription = "A workspace: one company, or one brand of it.";

export const workspaceSchema = closed(
  {
    name: text("Name of the workspace, which is created if it does not exist.", 200),
    plan: Type.Optional(Type.Enum([...plans], { description: "Sets the limits of its keys." })),
    bot_name: Type.Optional(text("The bot's name on its answers.", 80)),
    satisfaction_survey: Type.Optional(
      Type.Boolean({ description: "Asks customers to rate a conversation after it was resolved; default false." }),
    ),
    strictness: Type.Optional(
      Type.Enum([...strictnesses], {
        description: "strict: answers only when sure. helpful: also when it may be right.",
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
                description: "Words and phrases with the same meaning.",
              }),
              { maxItems: 500, description: "The workspace's own synonyms, besides the built-in ones." },
            ),
          ),
        },
        "Settings of the search for answers.",
      ),
    ),
    messages: Type.Optional(
      closed(
        {
          handover: Type.Optional(text("Sent once when the conversation is handed over to people.")),
          files_only: Type.Optional(text("Sent after a message with files and no text.")),
          unknown: Type.Optional(text("Sent when the documents hold no answer.")),
          waiting: Type.Optional(text("Answer to an API client while a person has the conversation.")),
          survey: Type.Optional(text("Asks for a rating from 1 to 5 after a conversation was resolved.")),
          rated: Type.Optional(text("Sent after a rating that the customer has typed.")),
          translations: Type.Optional(
            Type.Record(Type.String({ pattern: `^(?:${spokenLanguages.join("|")})$` }), translationSchema, {
              additionalProperties: false,
              description: `Sentences in a customer's language, by its code: ${spokenLanguages.join(", ")}.`,
            }),
          ),
          lookup_failed: Type.Optional(text("Sent when a look-up fails.")),
          lookup_unsure: Type.Optional(text("Sent when the outcome of a call is unknown.")),
          lookup_unverified: Type.Optional(text("Sent when a look-up requires a verified customer.")),
        },
        "Sentences of the bot.",
      ),
    ),
    escalation: Type.Optional(
      closed(
        {
          phrases: Type.Optional(
            Type.Array(text("A phrase by which a customer asks for a person.", 200), {
              maxItems: 500,
              description: "Replaces the built-in recognition.",
            }),
          ),
          low_answers: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 20,
              description: "Number of consecutive answers of low confidence that escalate.",
            }),
          ),
          anger: Type.Optional(
            Type.Union([Type.Number({ minimum: 0.1, maximum: 1 }), Type.Literal(false)], {
              description: "Level of anger at which a message escalates, 0.1 to 1; false: never.",
            }),
          ),
          anger_by: Type.Optional(
            Type.Enum(["words", "model"], {
              description: "What measures the anger: a list of words, or the language model if there is one.",
            }),
          ),
        },
        "When the bot hands over to people.",
      ),
    ),
    timezone: Type.Optional(text("An IANA time zone such as Europe/Berlin, by which reports divide days.", 64)),
    sla: Type.Optional(
      closed(
        {
          urgent: Type.Optional(minutes),
          high: Type.Optional(minutes),
          normal: Type.Optional(minutes),
          low: Type.Optional(minutes),
        },
        "Minutes that an open or escalated conversation may wait, by priority.",
      ),
    ),
    auto_resolve_days: Type.Optional(
      days("Days without a message after which an open conversation is resolved; false: never."),
    ),
    auto_archive_days: Type.Optional(days("Days after which a resolved conversation is archived; false: never.")),
    limit_minute: Type.Optional(
      requestLimit("Requests per minute of each API key, on the plan enterprise; false: the plan's limit."),
    ),
    limit_day: Type.Optional(
      requestLimit(
        "Requests per UTC day of each API key, on the plan enterprise; false: the plan's limit.",
        1_000_000_000,
      ),
    ),
    queries_per_month: Type.Optional(
      Type.Union(
        [Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Literal("unlimited"), Type.Literal(false)],
        {
          description: "Questions over the API per month; false: the plan's allowance.",
        },
      ),
    ),
    model_tokens_per_month: Type.Optional(
      requestLimit(
        "Tokens of the language model per UTC month; then answers are the documents' own sentences. false: no limit.",
        1_000_000_000_000,
      ),
    ),
    user_limit_minute: Type.Optional(requestLimit("Questions of one user over the API per minute; false: no limit.")),
    user_limit_day: Type.Optional(requestLimit("Questions of one user over the API per UTC day; false: no limit.")),
    retention_days: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: retentionDaysMax }), Type.Literal(false)], {
        description:
          "Days after its last message until a conversation is deleted, at most those of the plan: 365, on enterprise 2192; false: the plan's.",
      }),
    ),
    audiences: Type.Optional(audiencesSchema),
    identity_public_keys: Type.Optional(identityKeysSchema),
    recrawl_days: Type.Optional(days("Days after which a website is crawled again; false: only on request.")),
    widget: Type.Optional(widgetSchema),
    business_hours: Type.Optional(hoursSchema),
    saved_replies: Type.Optional(savedRepliesSchema),
    macros: Type.Optional(
      Type.Array(macroSchema, { maxItems: 200, description: "Macros, in the order in which agents see them." }),
    ),
    skills: Type.Optional(
      Type.Array(skillSchema, { maxItems: 50, description: "Skills of the bot besides searching the documents." }),
    ),
    rules: Type.Optional(
      Type.Array(ruleSchema, { maxItems: 200, description: "Automation rules, applied in this order." }),
    ),
    webhooks: Type.Optional(
      Type.Array(webhookSchema, {
        maxItems: 50,
        description: "Servers that receive events. One that is removed from the list is disabled.",
      }),
    ),
    desk: Type.Optional(deskSchema),
    teams: Type.Optional(Type.Array(teamSchema, { maxItems: 200, description: "Named sets of agents." })),
    second_factor_required: Type.Optional(
      Type.Boolean({ description: "Agents who sign in by password or link need a second factor; default false." }),
    ),
    single_sign_on: Type.Optional(singleSignOnSchema),
    channels: Type.Optional(
      Type.Array(channelSchema, { maxItems: 100, description: "Accounts on the customers' platforms." }),
    ),
    paused_channels: Type.Optional(
      Type.Array(text("Name of a channel.", 60), {
        maxItems: 100,
        description: `Names of channels above that receive nothing, while replies wait, and of the built-in ${channelsWith("chat").join(" and ")}.`,
      }),
    ),
  },
  workspaceDescription,
);

/** A workspace in a file for `config apply`, with what a start leaves to people. */
export const appliedWorkspaceSchema = closed(
  {
    ...workspaceSchema.properties,
    agents: Type.Optional(Type.Array(agentSchema, { maxItems: 10_000, description: "The people of the team." })),
    websites: Type.Optional(Type.Array(websiteSchema, { maxItems: 10_000, description: "Websites that are crawled." })),
    articles: Type.Optional(Type.Array(articleSchema, { maxItems: 10_000, description: "Articles." })),
  },
  workspaceDescription,
);

const outboundSchema = closed(
  {
    allow_private: Type.Optional(
      Type.Union(
        [Type.Boolean(), Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 200 })],
        {
          description:
            "Private addresses that may be reached: false (none), true (all), or a list such as 10.0.0.0/8 and 127.0.0.1.",
        },
      ),
    ),
  },
  "Requests to addresses chosen by others, such as those of webhooks.",
);

const fileDescription =
  "Configuration of Parley. ${NAME} in a text is replaced by that variable of the environment, $${NAME} by ${NAME}.";

/** The configuration file. `config/generate.ts` writes it to `config/schema.json` for editors. */
export const configFileSchema = closed(
  {
    workspaces: Type.Optional(Type.Array(workspaceSchema, { maxItems: 200 })),
    outbound: Type.Optional(outboundSchema),
  },
  fileDescription,
);

/** A file for `config apply`. */
export const appliedFileSchema = closed(
  {
    ...configFileSchema.properties,
    workspaces: Type.Optional(Type.Array(appliedWorkspaceSchema, { maxItems: 200 })),
  },
  fileDescription,
);
