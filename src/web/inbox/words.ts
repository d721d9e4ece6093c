import type { Status } from "#domain/lifecycle.ts";
import type { Channel } from "#domain/message.ts";
import type { AuditView, Delivery, View } from "../../http/inbox/wire.ts";
import type { IconName } from "./dom.ts";
import { when } from "./time.ts";

export const viewNames: Readonly<Record<View, string>> = {
  unassigned: "Unassigned",
  mine: "Mine",
  escalated: "Escalated",
  open: "Open",
  snoozed: "Snoozed",
  resolved: "Resolved",
  all: "All",
};

export const viewIcons: Readonly<Record<View, IconName>> = {
  unassigned: "inbox",
  mine: "person",
  escalated: "alert",
  open: "spark",
  snoozed: "clock",
  resolved: "check",
  all: "layers",
};

export const emptyViews: Readonly<Record<View, readonly [string, string]>> = {
  unassigned: ["All taken care of", "New and escalated conversations appear here."],
  mine: ["Nothing on your desk", "Conversations that you claim appear here."],
  escalated: ["Nobody is waiting", "Conversations that the assistant hands over appear here."],
  open: ["No open conversations", "Conversations that the assistant answers appear here."],
  snoozed: ["Nothing is snoozed", "Conversations that you put off appear here until they are due."],
  resolved: ["Nothing resolved yet", "Conversations that are done appear here."],
  all: ["No conversations yet", "The first question of a customer appears here."],
};

export const statusNames: Readonly<Record<Status, string>> = {
  open: "Open",
  claimed: "Claimed",
  escalated: "Escalated",
  snoozed: "Snoozed",
  resolved: "Resolved",
  archived: "Archived",
};

export const channelNames: Readonly<Record<Channel, string>> = {
  widget: "Website chat",
  whatsapp: "WhatsApp",
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  email: "E-mail",
  voice: "Phone call",
  sms: "SMS",
  intercom: "Intercom",
  hosted: "Chat page",
  api: "API",
};

export const deliveryNames: Readonly<Record<Delivery, string>> = {
  queued: "Queued",
  sending: "Sending…",
  sent: "Sent",
  delivered: "Delivered",
  read: "Read",
  failed: "Not delivered",
  unknown: "May not have arrived",
};

export function auditText({ action, actor, from, to }: AuditView): string {
  switch (action) {
    case "status_changed":
      return to === "escalated"
        ? `Escalated · ${actor}`
        : `${actor} · ${statusNames[from as Status] ?? from} → ${statusNames[to as Status] ?? to}`;
    case "assigned":
      return `Assigned to ${to ?? "nobody"}${actor === to ? "" : ` by ${actor}`}`;
    case "tagged":
      return `${actor} added the tag ${to}`;
    case "untagged":
      return `${actor} removed the tag ${from}`;
    case "priority_changed":
      return `${actor} set the priority to ${to}`;
    default:
      return `${actor}: ${action.replaceAll("_", " ")}`;
  }
}

export function snoozeText(until: number | null): string {
  return until === null ? "Snoozed until the customer replies" : `Snoozed until ${when(until)}`;
}
