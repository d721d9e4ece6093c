import type { DeskAsk, Expected } from "#channels/desk/contract.ts";
import type { Json } from "./card.ts";
import { fieldsOf } from "../deliveries/deliveries.ts";
import { markdownOf } from "./render.ts";

/** A dialog's subject, which Slack stores until it is submitted: at most 3,000 characters as JSON. */
export interface DialogSubject {
  readonly conversationId: string;
  readonly seen: Expected;
  readonly place: string;
  /** The tags that the dialog shows. */
  readonly tags?: readonly string[];
  /** The message that a shortcut was used on. */
  readonly messageId?: string;
}

export const dialogs = ["note", "tag", "snooze", "message", "reply"] as const;
export type Dialog = (typeof dialogs)[number];

const blockId = "value";
const actionId = "value";
const tagsTextMax = 2_000;
const tagsSeparator = ", ";
const textMax = 3_000;

const titles: Readonly<Record<Dialog, string>> = {
  note: "Internal note",
  tag: "Tags",
  snooze: "Snooze",
  message: "Conversation",
  reply: "Reply to the message",
};

const submits: Readonly<Record<Dialog, string>> = {
  note: "Save",
  tag: "Save",
  snooze: "Save",
  message: "Do it",
  reply: "Send",
};

/** The dialog's id at Slack. */
export const callbackIdOf = (dialog: Dialog): string => `parley_${dialog}`;

/** The options of the shortcut on a message. */
const messageOptions = {
  send: "Send this text to the customer",
  claim: "Claim the conversation",
  take_over: "Take the conversation over",
  release: "Release it to the bot",
  resolve: "Resolve the conversation",
  archive: "Archive the conversation",
  reopen: "Reopen the conversation",
} as const;

export type MessageChoice = keyof typeof messageOptions;

/** A dialog's view. `now`: epoch milliseconds. */
export function dialogView(dialog: Dialog, given: DialogSubject, now: number): Json {
  const subject = dialog === "tag" ? withTags(given) : given;
  const left = (given.tags?.length ?? 0) - (subject.tags?.length ?? 0);
  return {
    type: "modal",
    callback_id: callbackIdOf(dialog),
    private_metadata: JSON.stringify(subject),
    title: { type: "plain_text", text: titles[dialog] },
    submit: { type: "plain_text", text: submits[dialog] },
    close: { type: "plain_text", text: "Cancel" },
    blocks: [
      {
        type: "input",
        block_id: blockId,
        label: { type: "plain_text", text: labels[dialog] },
        optional: dialog === "tag",
        ...(left === 0 ? {} : { hint: { type: "plain_text", text: `${left} more, which stay, are in the inbox.` } }),
        element: { action_id: actionId, ...elementOf(dialog, subject, now) },
      },
    ],
  };
}

/** Limits the tags to those that fit into the field with room for more. Tags that are not shown are not removed. */
function withTags({ tags = [], ...subject }: DialogSubject): DialogSubject {
  let room = tagsTextMax / 2;
  const shown = tags.filter((tag) => {
    if (tag.includes(",")) return false;
    room -= tag.length + tagsSeparator.length;
    return room >= 0;
  });
  return { ...subject, tags: shown };
}

/** A dialog that only shows a text. */
export const sayingView = (text: string): Json => ({
  type: "modal",
  title: { type: "plain_text", text: titles.message },
  close: { type: "plain_text", text: "Close" },
  blocks: [{ type: "section", text: { type: "plain_text", text } }],
});

const labels: Readonly<Record<Dialog, string>> = {
  note: "Only colleagues see it",
  tag: "Tags, with commas between them",
  snooze: "Until when",
  message: "What shall happen?",
  reply: "The customer gets it, with the message that it answers",
};

function elementOf(dialog: Dialog, { tags = [] }: DialogSubject, now: number): Json {
  switch (dialog) {
    case "note":
    case "reply":
      return { type: "plain_text_input", multiline: true, max_length: textMax };
    case "tag":
      return {
        type: "plain_text_input",
        max_length: tagsTextMax,
        ...(tags.length === 0 ? {} : { initial_value: tags.join(tagsSeparator) }),
      };
    case "snooze":
      return { type: "datetimepicker", initial_date_time: Math.ceil((now + 3_600_000) / 900_000) * 900 };
    case "message":
      return {
        type: "static_select",
        options: Object.entries(messageOptions).map(([value, text]) => ({ text: { type: "plain_text", text }, value })),
      };
  }
}

/** A submitted dialog's meaning. */
export type DialogSubmission =
  | { readonly kind: "ask"; readonly ask: DeskAsk }
  | { readonly kind: "send" }
  | { readonly kind: "nothing" }
  | { readonly kind: "wrong"; readonly message: string };

const wrong = (message: string): DialogSubmission => ({ kind: "wrong", message });

export function readDialog(dialog: Dialog, subject: DialogSubject, values: unknown, now: number): DialogSubmission {
  const given = fieldsOf(fieldsOf(fieldsOf(values)[blockId])[actionId]);
  const text = typeof given["value"] === "string" ? given["value"].trim() : "";
  switch (dialog) {
    case "note":
      return text === "" ? wrong("Write something.") : { kind: "ask", ask: { kind: "note", text: markdownOf(text) } };
    case "reply":
      return text === ""
        ? wrong("Write something.")
        : { kind: "ask", ask: { kind: "reply", messageId: subject.messageId ?? "", text: markdownOf(text) } };
    case "tag":
      return readTags(text, subject.tags ?? []);
    case "snooze": {
      const seconds = given["selected_date_time"];
      if (!isTime(seconds) || seconds * 1_000 <= now) return wrong("Choose a time that is still to come.");
      return { kind: "ask", ask: { kind: "snooze", until: { kind: "at", at: seconds * 1_000 } } };
    }
    case "message": {
      const value = fieldsOf(given["selected_option"])["value"];
      if (typeof value !== "string" || !Object.hasOwn(messageOptions, value)) return wrong("Choose one.");
      const choice = value as MessageChoice;
      return choice === "send" ? { kind: "send" } : { kind: "ask", ask: { kind: choice } };
    }
  }
}

/** Epoch seconds with at most ten digits, as in Slack's date picker. */
const isTime = (given: unknown): given is number =>
  typeof given === "number" && Number.isInteger(given) && given <= 9_999_999_999;

const tagMax = 64;
const tagsMax = 50;

/** Only the added and removed tags, so that a colleague's concurrent changes are kept. */
function readTags(text: string, before: readonly string[]): DialogSubmission {
  const tags = [...new Set(text.split(",").map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== "");
  if (tags.some((tag) => [...tag].length > tagMax)) return wrong(`A tag has at most ${tagMax} characters.`);
  if (tags.length > tagsMax) return wrong(`A conversation has at most ${tagsMax} tags.`);
  const add = tags.filter((tag) => !before.includes(tag));
  const remove = before.filter((tag) => !tags.includes(tag));
  if (add.length + remove.length === 0) return { kind: "nothing" };
  return { kind: "ask", ask: { kind: "tag", add, remove } };
}

/** A view's subject; undefined for views that are not ours. */
export function subjectOf(metadata: string | null | undefined): DialogSubject | undefined {
  if (!metadata) return undefined;
  try {
    const subject = JSON.parse(metadata) as DialogSubject;
    return /^conv_[0-9a-z]{26}$/.test(subject.conversationId) ? subject : undefined;
  } catch {
    return undefined;
  }
}

/** Marks the field of a dialog as wrong. */
export const wrongField = (message: string) => ({ response_action: "errors", errors: { [blockId]: message } }) as const;
