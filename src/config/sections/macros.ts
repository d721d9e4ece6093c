import type { Static } from "typebox";
import { Type } from "typebox";
import type { Macro, MacroAction } from "#domain/workspace/macro.ts";
import { priorities } from "#domain/conversation/sla.ts";
import { agentAddress, tagName, tagOf } from "./automation.ts";
import { replyText } from "./saved-replies.ts";
import type { Fail } from "./values.ts";
import { closed, listOf, oneOrMore, text } from "./values.ts";

const yes = (description: string) => Type.Optional(Type.Literal(true, { description }));

const actionSchema = closed(
  {
    reply: Type.Optional(replyText("Sends this to the customer.")),
    note: Type.Optional(text("Adds this internal note.", 4_000)),
    tag: Type.Optional(oneOrMore(tagName, "Adds these tags.")),
    untag: Type.Optional(oneOrMore(tagName, "Removes these tags.")),
    priority: Type.Optional(Type.Enum([...priorities], { description: "Sets the priority." })),
    assign: Type.Optional(
      Type.Union([Type.Literal("me"), agentAddress], {
        description: "Assigns it to an agent: an e-mail address, or me for the one who applies the macro.",
      }),
    ),
    release: yes("true: gives it back to the bot."),
    escalate: yes("true: hands it over to people."),
    snooze_hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8_760, description: "Snoozes it for this many hours." }),
    ),
    snooze_until_reply: yes("true: snoozes it until the customer replies."),
    resolve: yes("true: resolves it."),
  },
  "One action.",
);

export const macroSchema = closed(
  {
    name: text("Name of the macro, by which agents choose it.", 100),
    actions: Type.Array(actionSchema, {
      minItems: 1,
      maxItems: 20,
      description: "Actions, done in this order: all of them, or none.",
    }),
  },
  "Actions that agents apply to a conversation at once.",
);

/** A macro as the configuration file writes it. */
export type FileMacro = Static<typeof macroSchema>;

const actionKeys = Object.keys(actionSchema.properties) as readonly (keyof Static<typeof actionSchema>)[];

/** Checks and returns the macros of a workspace. Their form has been checked by the schema. */
export function macrosOf(given: readonly FileMacro[], fail: Fail): readonly Macro[] {
  return given.map(({ name, actions }, at): Macro => {
    if (given.findIndex((other) => other.name === name) < at) fail([at, "name"], `two macros are named "${name}"`);
    return {
      name,
      actions: actions.map((action, i) =>
        actionOf(action, (path, message) => fail([at, "actions", i, ...path], message)),
      ),
    };
  });
}

function actionOf(given: Static<typeof actionSchema>, fail: Fail): MacroAction {
  const keys = actionKeys.filter((key) => given[key] !== undefined);
  if (keys.length !== 1) fail([], `this has ${keys.length} of ${actionKeys.join(", ")}; each item takes exactly one`);
  if (given.reply !== undefined) return { kind: "reply", text: given.reply };
  if (given.note !== undefined) return { kind: "note", text: given.note };
  if (given.tag !== undefined) return { kind: "tag", tags: (listOf(given.tag) ?? []).map(tagOf) };
  if (given.untag !== undefined) return { kind: "untag", tags: (listOf(given.untag) ?? []).map(tagOf) };
  if (given.priority !== undefined) return { kind: "priority", priority: given.priority };
  if (given.assign !== undefined) {
    return { kind: "assign", to: given.assign === "me" ? null : given.assign.toLowerCase() };
  }
  if (given.release !== undefined) return { kind: "release" };
  if (given.escalate !== undefined) return { kind: "escalate" };
  if (given.snooze_hours !== undefined) return { kind: "snooze", hours: given.snooze_hours };
  return given.resolve === undefined ? { kind: "snooze", hours: null } : { kind: "resolve" };
}

/** The form of a macro in the configuration file. */
export const fileMacroOf = ({ name, actions }: Macro): FileMacro => ({ name, actions: actions.map(fileActionOf) });

function fileActionOf(action: MacroAction): FileMacro["actions"][number] {
  switch (action.kind) {
    case "reply":
      return { reply: action.text };
    case "note":
      return { note: action.text };
    case "tag":
      return { tag: [...action.tags] };
    case "untag":
      return { untag: [...action.tags] };
    case "priority":
      return { priority: action.priority };
    case "assign":
      return { assign: action.to ?? "me" };
    case "release":
      return { release: true };
    case "escalate":
      return { escalate: true };
    case "snooze":
      return action.hours === null ? { snooze_until_reply: true } : { snooze_hours: action.hours };
    case "resolve":
      return { resolve: true };
  }
}
