import type { Static } from "typebox";
import { Type } from "typebox";
import type { Action, Conditions, Rule, Trigger } from "#domain/workspace/automation.ts";
import { timeAnchors } from "#domain/workspace/automation.ts";
import type { BusinessHours } from "#domain/workspace/business-hours.ts";
import { parseInterval, weekdays } from "#domain/workspace/business-hours.ts";
import { isTimezone } from "#domain/reporting/local-time.ts";
import { languages } from "#language/message-language.ts";
import { statuses } from "#domain/conversation/status.ts";
import { channels } from "#channels/catalog.ts";
import { confidences } from "#domain/conversation/message.ts";
import { wordsIn } from "#language/words/phrases.ts";
import { priorities } from "#domain/conversation/sla.ts";
import type { Fail } from "./values.ts";
import { closed, listOf, oneOrMore, text } from "./values.ts";

export const tagName = Type.String({ minLength: 1, maxLength: 64 });
export const agentAddress = Type.String({ pattern: "^[^\\s@]{1,64}@[^\\s@]{1,120}$" });

const whenSchema = closed(
  {
    message: Type.Optional(
      Type.Enum(["customer", "bot", "agent"], { description: "A message of this author was added." }),
    ),
    status: Type.Optional(oneOrMore(Type.Enum([...statuses]), "The status changed to one of these.")),
    tagged: Type.Optional(text("This tag was added.", 64)),
    untagged: Type.Optional(text("This tag was removed.", 64)),
    sla: Type.Optional(Type.Enum(["at_risk", "breached"], { description: "The SLA state changed to this." })),
    minutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 525_600, description: "This many minutes have passed since `since`." }),
    ),
    since: Type.Optional(
      Type.Enum([...timeAnchors], {
        description:
          "Start of `minutes`: the last message (default), the last change of status, or the conversation's start.",
      }),
    ),
  },
  "What sets the rule off: exactly one of message, status, tagged, untagged, sla and minutes.",
);

const ifSchema = closed(
  {
    channels: Type.Optional(oneOrMore(Type.Enum([...channels]), "The channel is one of these.")),
    statuses: Type.Optional(oneOrMore(Type.Enum([...statuses]), "The status is one of these.")),
    tags: Type.Optional(oneOrMore(tagName, "It has all of these tags.")),
    without_tags: Type.Optional(oneOrMore(tagName, "It has none of these tags.")),
    priorities: Type.Optional(oneOrMore(Type.Enum([...priorities]), "The priority is one of these.")),
    words: Type.Optional(
      oneOrMore(Type.String({ minLength: 1, maxLength: 200 }), "The message has one of these words or phrases."),
    ),
    metadata: Type.Optional(
      oneOrMore(
        Type.String({ pattern: "^[^=]*[^=\\s][^=]*=", maxLength: 400 }),
        "The message's metadata have one of these, each as key=value, such as start=spring-sale.",
      ),
    ),
    languages: Type.Optional(oneOrMore(Type.Enum([...languages]), "The message is in one of these languages.")),
    confidences: Type.Optional(
      oneOrMore(Type.Enum([...confidences]), "The confidence of the bot's answer is one of these."),
    ),
    plans: Type.Optional(
      oneOrMore(Type.String({ minLength: 1, maxLength: 190 }), "The verified customer's plan is one of these."),
    ),
    verified: Type.Optional(Type.Boolean({ description: "Whether the customer is verified." })),
    business_hours: Type.Optional(
      Type.Enum(["open", "closed"], { description: "Within or outside the business hours." }),
    ),
    unanswered: Type.Optional(Type.Boolean({ description: "Whether the customer's last message is unanswered." })),
    assigned: Type.Optional(Type.Boolean({ description: "Whether it is assigned to an agent." })),
  },
  "Conditions: all that are given must hold.",
);

const actionSchema = closed(
  {
    tag: Type.Optional(oneOrMore(tagName, "Adds these tags.")),
    untag: Type.Optional(oneOrMore(tagName, "Removes these tags.")),
    priority: Type.Optional(Type.Enum([...priorities], { description: "Sets the priority." })),
    assign: Type.Optional(
      Type.Union([Type.Literal("round_robin"), agentAddress], {
        description: "Assigns it to an agent: an e-mail address, or round_robin for the next available one.",
      }),
    ),
    among: Type.Optional(
      Type.Array(agentAddress, { minItems: 1, maxItems: 200, description: "Agents for round_robin." }),
    ),
    max_claimed: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: "Skips agents with this many claimed conversations." }),
    ),
    escalate: Type.Optional(text("Hands it over to people with this reason.", 300)),
    note: Type.Optional(text("Adds this internal note.")),
    notify: Type.Optional(text("Adds this internal note and sends the event conversation.notice.")),
    reply: Type.Optional(text("Sends this to the customer instead of a bot answer.", 4_000)),
    snooze_hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8_760, description: "Snoozes it for this many hours." }),
    ),
    resolve: Type.Optional(Type.Literal(true, { description: "true: resolves it." })),
  },
  "One thing to do.",
);

export const ruleSchema = closed(
  {
    name: text("Name of the rule, for the audit log and the dry run.", 100),
    enabled: Type.Optional(Type.Boolean({ description: "false: the rule does nothing." })),
    when: whenSchema,
    if: Type.Optional(ifSchema),
    // oxlint-disable-next-line unicorn/no-thenable -- the key of the file; its value is a list, not a function.
    then: Type.Array(actionSchema, { minItems: 1, maxItems: 20, description: "Actions, run in this order." }),
  },
  "Something that happens by itself.",
);

const hours = (day: string) =>
  Type.Optional(
    Type.Array(Type.String({ maxLength: 20 }), {
      maxItems: 10,
      description: `Hours on ${day}, such as 09:00-17:00; none: closed.`,
    }),
  );

export const hoursSchema = closed(
  {
    timezone: text("An IANA time zone such as Europe/Berlin.", 64),
    monday: hours("Mondays"),
    tuesday: hours("Tuesdays"),
    wednesday: hours("Wednesdays"),
    thursday: hours("Thursdays"),
    friday: hours("Fridays"),
    saturday: hours("Saturdays"),
    sunday: hours("Sundays"),
    holidays: Type.Optional(
      Type.Array(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }), {
        maxItems: 500,
        description: "Dates without business hours, such as 2027-12-25.",
      }),
    ),
  },
  "When somebody is there.",
);

const triggerKeys = ["message", "status", "tagged", "untagged", "sla", "minutes"] as const;
const actionKeys = [
  "tag",
  "untag",
  "priority",
  "assign",
  "escalate",
  "note",
  "notify",
  "reply",
  "snooze_hours",
  "resolve",
] as const;
const roles = { customer: "user", bot: "assistant", agent: "agent" } as const;
const minuteMs = 60_000;

/** Checks and returns the rules of a workspace, with those that are off. Their form has been checked by the schema. */
export function rulesOf(given: readonly Static<typeof ruleSchema>[], hasHours: boolean, fail: Fail): readonly Rule[] {
  for (const [at, { name }] of given.entries()) {
    if (given.findIndex((other) => other.name === name) < at) fail([at, "name"], `two rules are named "${name}"`);
  }
  return given.map((each, at): Rule => {
    const failAt: Fail = (path, message) => fail([at, ...path], message);
    const when = triggerOf(each.when, failAt);
    const conditions = conditionsOf(each.if ?? {}, when, hasHours, failAt);
    const actions = each.then.map((action, i) =>
      actionOf(action, (path, message) => failAt(["then", i, ...path], message)),
    );
    return { name: each.name, ...(each.enabled === false ? { enabled: false } : {}), when, conditions, actions };
  });
}

function triggerOf(when: Static<typeof whenSchema>, fail: Fail): Trigger {
  const given = triggerKeys.filter((key) => when[key] !== undefined);
  if (given.length !== 1) fail(["when"], `when has ${given.length} of ${triggerKeys.join(", ")}; it takes exactly one`);
  const { message, status, tagged, untagged, sla, minutes, since } = when;
  if (since !== undefined && minutes === undefined) fail(["when", "since"], "since goes with minutes only");
  if (message !== undefined) return { kind: "message", by: roles[message] };
  if (status !== undefined) return { kind: "status", to: listOf(status) ?? [] };
  if (tagged !== undefined) return { kind: "tagged", tag: tagOf(tagged) };
  if (untagged !== undefined) return { kind: "untagged", tag: tagOf(untagged) };
  if (sla !== undefined) return { kind: "sla", state: sla };
  return { kind: "time", afterMs: (minutes ?? 0) * minuteMs, since: since ?? "last_message" };
}

function conditionsOf(given: Static<typeof ifSchema>, when: Trigger, hasHours: boolean, fail: Fail): Conditions {
  const ofMessages = (["words", "metadata", "languages", "confidences"] as const).find(
    (key) => given[key] !== undefined,
  );
  if (ofMessages !== undefined && when.kind !== "message")
    fail(["if", ofMessages], `${ofMessages} looks at a message: it goes with when.message only`);
  if (given.confidences !== undefined && when.kind === "message" && when.by !== "assistant")
    fail(["if", "confidences"], "only the bot's answers have a confidence: it goes with when: {message: bot}");
  if (given.business_hours !== undefined && !hasHours)
    fail(["if", "business_hours"], "the workspace has no business_hours: add them, or leave this out");
  const words = listOf(given.words);
  const empty = words?.findIndex((phrase) => wordsIn(phrase).words.length === 0) ?? -1;
  if (empty !== -1) fail(["if", "words"], `"${words?.[empty] ?? ""}" has no word`);
  const all = {
    channels: listOf(given.channels),
    statuses: listOf(given.statuses),
    tags: listOf(given.tags)?.map(tagOf),
    withoutTags: listOf(given.without_tags)?.map(tagOf),
    priorities: listOf(given.priorities),
    words,
    metadata: listOf(given.metadata),
    languages: listOf(given.languages),
    confidences: listOf(given.confidences),
    plans: listOf(given.plans)?.map(tagOf),
    verified: given.verified,
    businessHours: given.business_hours,
    unanswered: given.unanswered,
    assigned: given.assigned,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function actionOf(given: Static<typeof actionSchema>, fail: Fail): Action {
  const keys = actionKeys.filter((key) => given[key] !== undefined);
  if (keys.length !== 1) fail([], `this has ${keys.length} of ${actionKeys.join(", ")}; each item takes exactly one`);
  for (const key of ["among", "max_claimed"] as const) {
    if (given[key] !== undefined && given.assign !== "round_robin") fail([key], `${key} goes with assign: round_robin`);
  }
  if (given.tag !== undefined) return { kind: "tag", tags: (listOf(given.tag) ?? []).map(tagOf) };
  if (given.untag !== undefined) return { kind: "untag", tags: (listOf(given.untag) ?? []).map(tagOf) };
  if (given.priority !== undefined) return { kind: "priority", priority: given.priority };
  if (given.assign !== undefined) {
    return {
      kind: "assign",
      to: given.assign === "round_robin" ? null : given.assign.toLowerCase(),
      among: (given.among ?? []).map((email) => email.toLowerCase()),
      maxClaimed: given.max_claimed ?? null,
    };
  }
  if (given.escalate !== undefined) return { kind: "escalate", reason: given.escalate };
  if (given.note !== undefined) return { kind: "note", text: given.note };
  if (given.notify !== undefined) return { kind: "notify", text: given.notify };
  if (given.reply !== undefined) return { kind: "reply", text: given.reply };
  if (given.snooze_hours !== undefined) return { kind: "snooze", hours: given.snooze_hours };
  return { kind: "resolve" };
}

/** The form in which tags are stored and compared. */
export const tagOf = (given: string): string => given.trim().toLowerCase();

export const noTimezone = (name: string): string =>
  `"${name}" is no time zone; use a name such as Europe/Berlin or UTC`;

export function hoursOf(given: Static<typeof hoursSchema>, fail: Fail): BusinessHours {
  if (!isTimezone(given.timezone)) {
    fail(["timezone"], noTimezone(given.timezone));
  }
  const days = Object.fromEntries(
    weekdays.map((day) => {
      const intervals = (given[day] ?? []).map((interval) => {
        const parsed = parseInterval(interval);
        return parsed ?? fail([day], `"${interval}" is no time of opening; write it as 09:00-17:00, at most to 24:00`);
      });
      return [day, intervals.toSorted((left, right) => left.from - right.from)];
    }),
  );
  for (const date of given.holidays ?? []) {
    const at = new Date(`${date}T00:00:00Z`);
    if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== date)
      fail(["holidays"], `"${date}" is no date`);
  }
  return { timezone: given.timezone, days, holidays: given.holidays ?? [] };
}
