import type { DeskConversation, Expected } from "#channels/desk/contract.ts";
import type { Status } from "#domain/conversation/status.ts";
import { channelLabel } from "#channels/catalog.ts";
import { escapeText, mrkdwnObject } from "../messages/mrkdwn.ts";

export type Json = Readonly<Record<string, unknown>>;

export interface Card {
  /** Shown in notifications, and where blocks are not supported. */
  readonly text: string;
  readonly blocks: readonly Json[];
}

const statusNames: Readonly<Record<Status, string>> = {
  open: "Open, the bot answers",
  escalated: "Waiting for a person",
  claimed: "Claimed",
  snoozed: "Snoozed",
  resolved: "Resolved",
  archived: "Archived",
};

const statusSigns: Readonly<Record<Status, string>> = {
  open: "🤖",
  escalated: "🔔",
  claimed: "🙋",
  snoozed: "💤",
  resolved: "✅",
  archived: "🗄️",
};

/** Renders the card at the top of a thread. */
export function cardOf(card: DeskConversation): Card {
  const title = `${statusSigns[card.status]} ${card.customer.label} · ${channelLabel(card.channel)}`;
  return {
    text: escapeText(`${title} · ${statusNames[card.status]}: ${card.question}`),
    blocks: [
      { type: "header", text: { type: "plain_text", text: shortened(title, 150), emoji: false } },
      ...(card.question === ""
        ? []
        : [{ type: "section", text: { type: "plain_text", text: card.question, emoji: false } }]),
      { type: "section", fields: fieldsOf(card).map(mrkdwnObject) },
      actionsOf(card),
      {
        type: "context",
        elements: [mrkdwnObject(`<${escapeText(card.url)}|Open in the inbox> · ${card.id}`)],
      },
    ],
  };
}

function fieldsOf(card: DeskConversation): readonly string[] {
  const { customer } = card;
  return [
    field("Status", statusText(card)),
    field("SLA", slaText(card.sla)),
    field("Customer", escapeText(customerText(customer))),
    field("Priority", card.priority),
    ...(card.window === null ? [] : [field("Free replies", windowText(card.window))]),
    ...(card.tags.length === 0 ? [] : [field("Tags", escapeText(card.tags.join(", ")))]),
  ];
}

function customerText(customer: DeskConversation["customer"]): string {
  const { label, verified, verifiedFields } = customer;
  const known = (["name", "email", "phone"] as const).flatMap((key) => {
    const value = customer[key];
    return value === null ? [] : [verifiedFields.includes(key) ? `${value} (verified)` : value];
  });
  const text = known.join(", ") || label;
  return verified && verifiedFields.length === 0 ? `${text} (user verified, details not)` : text;
}

/** Slack's limit is 2,000 characters; the cut must not split an escape. */
const field = (name: string, value: string): string => `*${name}*\n${value.slice(0, 1_900).replace(/&[a-z]*$/, "")}`;

export function statusText({ status, assignee, snoozedUntil }: DeskConversation): string {
  const name = assignee === null ? "" : escapeText(assignee.name);
  if (status === "claimed") return name === "" ? "Claimed" : `Claimed by ${name}`;
  // The assignee may differ from the agent who snoozed it.
  const held = name === "" ? "" : `, assigned to ${name}`;
  if (status === "escalated") return `${statusNames.escalated}${held}`;
  if (status !== "snoozed") return statusNames[status];
  return `Snoozed until ${snoozedUntil === null ? "the customer replies" : dateText(snoozedUntil)}${held}`;
}

function slaText({ state, dueAt, leftMs }: DeskConversation["sla"]): string {
  if (state === "breached") return "⛔ breached";
  const sign = state === "at_risk" ? "⚠️ " : "";
  if (dueAt !== null) return `${sign}due ${dateText(dueAt)}`;
  return `${sign}stands still, ${Math.floor(leftMs / 60_000)} min left`;
}

/** The card is not updated when the window closes, so its text must remain true afterwards. */
function windowText({ isOpen, closesAt, closed }: NonNullable<DeskConversation["window"]>): string {
  if (isOpen && closesAt !== null) return `until ${dateText(closesAt)}`;
  const since = closesAt === null ? "" : ` since ${dateText(closesAt)}`;
  return `⚠️ closed${since}: ${escapeText(closed ?? "")}`;
}

/** A date that Slack shows in the reader's time zone. */
const dateText = (at: number): string =>
  `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} {time}|${new Date(at).toISOString().slice(0, 16)} UTC>`;

const blockPrefix = "parley";

/** Encodes the conversation and its state at the time when the buttons were shown. */
function blockIdOf({ id, status, assignee }: DeskConversation): string {
  return [blockPrefix, id, status, assignee?.email ?? ""].join("|").slice(0, 255);
}

export function parseBlockId(given: string): { readonly conversationId: string; readonly seen: Expected } | undefined {
  const [, conversationId = "", status = "", email = ""] =
    /^parley\|(conv_[0-9a-z]{26})\|([a-z]{4,9})\|(.*)$/.exec(given) ?? [];
  if (conversationId === "" || !(status in statusNames)) return undefined;
  return { conversationId, seen: { status: status as Status, assignedTo: email === "" ? null : email } };
}

interface ButtonOf {
  readonly action: string;
  readonly label: string;
  readonly style?: "primary" | "danger";
}

const button = ({ action, label, style }: ButtonOf): Json => ({
  type: "button",
  action_id: `parley_${action}`,
  text: { type: "plain_text", text: label },
  ...(style === undefined ? {} : { style }),
});

const buttons = {
  claim: button({ action: "claim", label: "Claim", style: "primary" }),
  release: button({ action: "release", label: "Release" }),
  resolve: button({ action: "resolve", label: "Resolve" }),
  archive: button({ action: "archive", label: "Archive" }),
  reopen: button({ action: "reopen", label: "Reopen" }),
  wake: button({ action: "reopen", label: "End snooze" }),
  tag: button({ action: "tag", label: "Tag" }),
  note: button({ action: "note", label: "Note" }),
} as const;

const snoozeOptions = {
  h1: "1 hour",
  morning: "Tomorrow 9:00",
  reply: "Until they reply",
  pick: "Pick a time…",
};

const option = ([value, label]: readonly [string, string]): Json => ({
  text: { type: "plain_text", text: label },
  value,
});

const snooze: Json = {
  type: "static_select",
  action_id: "parley_snooze",
  placeholder: { type: "plain_text", text: "Snooze" },
  options: Object.entries(snoozeOptions).map(option),
};

const elementsOf: Readonly<Record<Status, readonly Json[]>> = {
  open: [buttons.claim, snooze, buttons.resolve, buttons.tag, buttons.note],
  escalated: [buttons.claim, snooze, buttons.resolve, buttons.tag, buttons.note],
  claimed: [buttons.release, snooze, buttons.resolve, buttons.tag, buttons.note],
  snoozed: [buttons.claim, buttons.wake, buttons.resolve, buttons.tag, buttons.note],
  resolved: [buttons.reopen, buttons.archive, snooze, buttons.tag, buttons.note],
  archived: [buttons.reopen, buttons.tag, buttons.note],
};

const actionsOf = (card: DeskConversation): Json => ({
  type: "actions",
  block_id: blockIdOf(card),
  elements: elementsOf[card.status],
});

export function shortened(text: string, max: number): string {
  const signs = [...text];
  return signs.length <= max ? text : `${signs.slice(0, max - 1).join("")}…`;
}
