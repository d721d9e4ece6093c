import { Type } from "typebox";
import type { DeskAsk, DeskEvent, DraftChoice, SnoozeEnd } from "#channels/desk/contract.ts";
import type { PayloadOf } from "#database/work.ts";
import { kindsOf, workKind } from "#database/work.ts";
import type { StoredDeskFile } from "./agent-files.ts";

type DeskMessageEvent = Extract<DeskEvent, { kind: "wrote" }>;

/** A message of an agent as its outbox row holds it, with sealed references to its files. */
export type StoredDeskMessage = Omit<DeskMessageEvent, "files"> & { readonly files: readonly StoredDeskFile[] };

export type StoredDeskEvent = Exclude<DeskEvent, DeskMessageEvent> | StoredDeskMessage;

const text = Type.String();
const snoozeEnd = Type.Object({
  kind: kindsOf<SnoozeEnd["kind"]>({ hours: true, morning: true, reply: true, at: true }),
});
const ask = Type.Union([
  Type.Object({ kind: Type.Literal("snooze"), until: snoozeEnd }),
  Type.Object({
    kind: kindsOf<Exclude<DeskAsk["kind"], "snooze" | "reply">>({
      claim: true,
      take_over: true,
      release: true,
      resolve: true,
      archive: true,
      reopen: true,
      tag: true,
      note: true,
    }),
  }),
  Type.Object({ kind: Type.Literal("reply"), messageId: text, text }),
]);
const by = { by: text, place: text };
const inThread = { thread: text, messageId: text, ...by };

/** An agent's message, edit or click at the desk. */
export const deskEventKind = workKind(
  "desk-event",
  Type.Object({
    accountId: text,
    workspaceId: text,
    event: Type.Unsafe<StoredDeskEvent>(
      Type.Union([
        Type.Object({ kind: Type.Literal("wrote"), text, files: Type.Array(Type.Object({})), ...inThread }),
        Type.Object({ kind: Type.Literal("edited"), text, ...inThread }),
        Type.Object({ kind: Type.Literal("removed"), ...inThread }),
        Type.Object({ kind: Type.Literal("asked"), conversationId: text, ask, ...by }),
        Type.Object({
          kind: Type.Literal("reacted"),
          conversationId: text,
          messageId: text,
          emoji: text,
          isAdded: Type.Boolean(),
          ...by,
        }),
        Type.Object({
          kind: Type.Literal("chose"),
          conversationId: text,
          messageId: text,
          choice: kindsOf<DraftChoice>({ send: true, take_over: true, note: true }),
          ...by,
        }),
      ]),
    ),
  }),
  // A text that the agent has deleted since would be sent: the deletion behind it found nothing to delete.
  { canRetry: () => false },
);

export type DeskEventPayload = PayloadOf<typeof deskEventKind>;
