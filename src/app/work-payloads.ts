import type { TSchema } from "typebox";
import { Type } from "typebox";
import type { Validator } from "typebox/compile";
import { Compile } from "typebox/compile";
import type { DeskAsk, DraftChoice, SnoozeEnd } from "#channels/desk/contract.ts";
import { statuses } from "#domain/conversation/status.ts";
import type { SyncItem } from "#conversations/transaction/desk-sync-work.ts";
import type { OutboxRow } from "#database/queries/outbox.ts";

// What the rows of the queue say, by their kind. While versions take turns an older one meets rows that a newer one has
// stored. It ignores what is said beside this, and leaves alone whatever lacks any of it: so a field that can be ignored
// is added, and anything else gets another name or another kind.

const text = Type.String();
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const list = (item: TSchema) => Type.Array(item);
const conversation = Type.Object({ conversationId: text });
const place = Type.Object({ startedAt: Type.Number(), id: text });
const status = Type.Enum([...statuses]);

/** The kinds of a union, none of them forgotten. */
const oneOf = <K extends string>(kinds: Readonly<Record<K, true>>) => Type.Enum(Object.keys(kinds) as K[]);

const snoozeEnd = Type.Object({
  kind: oneOf<SnoozeEnd["kind"]>({ hours: true, morning: true, reply: true, at: true }),
});
const ask = Type.Union([
  Type.Object({ kind: Type.Literal("snooze"), until: snoozeEnd }),
  Type.Object({
    kind: oneOf<Exclude<DeskAsk["kind"], "snooze">>({
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
]);
const by = { by: text, place: text };
const inThread = { thread: text, messageId: text, ...by };
const deskEvent = Type.Union([
  Type.Object({ kind: Type.Literal("wrote"), text, files: list(Type.Object({})), ...inThread }),
  Type.Object({ kind: Type.Literal("edited"), text, ...inThread }),
  Type.Object({ kind: Type.Literal("removed"), ...inThread }),
  Type.Object({ kind: Type.Literal("asked"), conversationId: text, ask, ...by }),
  Type.Object({
    kind: Type.Literal("chose"),
    conversationId: text,
    messageId: text,
    choice: oneOf<DraftChoice>({ send: true, take_over: true, note: true }),
    ...by,
  }),
]);

/** Rows of these kinds are done by this version. */
export const payloadShapes = {
  think: Type.Object({ conversationId: text, seq: Type.Number(), options: Type.Optional(Type.Object({})) }),
  send: Type.Object({ deliveryId: text }),
  "stand-there": conversation,
  "handover-there": Type.Object({ conversationId: text, handedOver: Type.Object({}) }),
  "note-there": Type.Object({ conversationId: text, noteId: text }),
  amend: Type.Object({ messageId: text, conversationId: text, content: nullable(text) }),
  desk: Type.Object({
    conversationId: text,
    items: list(
      Type.Object({
        kind: oneOf<SyncItem["kind"]>({
          message: true,
          note: true,
          event: true,
          file: true,
          changed: true,
          fate: true,
        }),
      }),
    ),
  }),
  "desk-event": Type.Object({ accountId: text, workspaceId: text, event: deskEvent }),
  "desk-notice": Type.Object({ accountId: text, ...by, notice: Type.Object({ text }) }),
  "desk-erase": Type.Object({ accountId: text, shown: list(text) }),
  speak: Type.Object({
    conversationId: text,
    rule: text,
    text,
    status,
    seq: Type.Number(),
    answersSeq: nullable(Type.Number()),
  }),
  redirect: Type.Object({ conversationId: text, messageId: text, reason: text }),
  timer: conversation,
  // The first version stored one conversation a row.
  index: Type.Union([Type.Object({ conversationIds: list(text) }), conversation]),
  file: Type.Object({ fileId: text }),
  unfile: Type.Object({ files: list(Type.Object({ workspaceId: text, id: text })) }),
  tell: Type.Object({ endpointId: text }),
  "forget-events": Type.Object({}),
  search: Type.Union([
    Type.Object({ kind: Type.Literal("push"), conversationId: text }),
    Type.Object({ kind: Type.Literal("build"), collection: text, after: nullable(place) }),
    Type.Object({ kind: Type.Literal("drop"), collection: text }),
    Type.Object({ kind: Type.Literal("check"), collection: text }),
    Type.Object({ kind: Type.Literal("sweep") }),
  ]),
  knowledge: Type.Object({ drop: Type.Optional(text), check: Type.Optional(text) }),
  embed: Type.Object({ after: Type.Optional(text) }),
  relink: Type.Object({
    contactId: text,
    after: Type.Optional(place),
    previous: Type.Optional(nullable(text)),
  }),
  retime: Type.Object({
    workspaceId: text,
    status: Type.Optional(status),
    after: Type.Optional(place),
  }),
  signout: Type.Object({ agentId: text }),
  purge: Type.Object({ workspaceId: text }),
  housekeeping: Type.Object({ emptiedUntil: Type.Optional(Type.Number()) }),
  ingest: Type.Object({ documentId: text }),
  crawl: Type.Object({ documentId: text, run: Type.Number() }),
  recrawl: Type.Object({ documentId: text }),
} satisfies Readonly<Record<string, TSchema>>;

export type WorkKind = keyof typeof payloadShapes;

const validators = new Map<string, Validator>();

/** Whether this version knows how to do what the row says. */
export function readsWork({ kind, payload }: Pick<OutboxRow, "kind" | "payload">): boolean {
  let validator = validators.get(kind);
  if (validator === undefined) {
    const shape = Object.hasOwn(payloadShapes, kind) ? payloadShapes[kind as WorkKind] : undefined;
    if (shape === undefined) return false;
    validator = Compile(shape);
    validators.set(kind, validator);
  }
  try {
    return validator.Check(JSON.parse(payload));
  } catch {
    // No JSON: nothing that any version has stored.
    return false;
  }
}
