import { sql } from "kysely";
import { storedCells } from "#conversations/reporting/compare.ts";
import { recountReports } from "#conversations/reporting/repair.ts";
import type { OpenStore } from "#database/open.ts";
import type { Installation } from "../support/program/installation.ts";
import type { AnsweredQuestion } from "./api-client.ts";
import { fetchHistory } from "./customer.ts";
import type { CustomerRecord } from "./customer.ts";

interface StoredMessage {
  readonly id: string;
  readonly seq: number;
  readonly role: string;
  readonly external_id: string | null;
  readonly answers_seq: number | null;
  readonly metadata: string | null;
}

/** Work that has been due for longer than this is stuck. */
const stuckMs = 3_000;

/** Checks the history that a customer sees on a new connection. */
export async function verifyFromOutside(
  record: CustomerRecord,
  urls: { readonly base: string; readonly socket: string },
  { key }: Installation,
): Promise<readonly string[]> {
  const { name, token, conversation, shown, acknowledged } = record;
  if (token === undefined || conversation === undefined) return [`${name}: never had a conversation`];
  const violations = [...record.violations];
  if (record.unacknowledged > 0) violations.push(`${name}: ${record.unacknowledged} messages were never acknowledged`);
  const history = await fetchHistory(urls.socket, token);
  const line = (message: { readonly seq: number; readonly id: string }): string => `${message.seq}:${message.id}`;
  if (history.map(line).join() !== shown.map(line).join()) {
    violations.push(
      `${name}: the shown messages differ from the history (${shown.length} shown, ${history.length} stored)`,
    );
  }
  for (const [clientId, { seq, id }] of acknowledged) {
    const found = history.filter((message) => message.clientId === clientId);
    if (found.length !== 1 || found[0]?.seq !== seq || found[0].id !== id) {
      violations.push(`${name}: the history has the acknowledged message ${seq} ${found.length} times`);
    }
  }
  const response = await fetch(`${urls.base}/v1/conversations/${conversation}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const body = (await response.json()) as { readonly messages?: readonly { readonly id: string }[] };
  const ids = (body.messages ?? []).map(({ id }) => id);
  if (ids.join() !== history.map(({ id }) => id).join()) {
    violations.push(`${name}: the API and the widget show different conversations (${response.status})`);
  }
  return violations;
}

/** Due or abandoned work. */
export async function workLeft(store: OpenStore): Promise<readonly string[]> {
  const rows = await store.read
    .selectFrom("outbox")
    .select(["kind", "lane", "due_at", "attempts", "dead_at", "last_error"])
    .where((eb) => eb.or([eb("due_at", "<=", Date.now()), eb("dead_at", "is not", null)]))
    .execute();
  return rows.map(
    (row) => `${row.dead_at === null ? "pending" : "dead"} ${row.kind} of ${row.lane}, ${row.last_error ?? "no error"}`,
  );
}

/** Checks the database, whatever was killed and when. */
export async function verifyStored(
  store: OpenStore,
  workspaceId: string,
  customers: readonly CustomerRecord[],
  answered: readonly AnsweredQuestion[],
): Promise<readonly string[]> {
  const violations: string[] = [];
  const conversations = await store.read
    .selectFrom("conversations")
    .select(["id", "channel", "status", "last_seq", "message_count", "last_customer_seq", "settled_seq"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  const clientsMessages = new Map(
    customers.map(({ conversation, acknowledged }) => [conversation, acknowledged] as const),
  );
  const byMarker = new Map<string, { readonly conversationId: string; readonly answer: string | undefined }[]>();

  for (const conversation of conversations) {
    const messages: StoredMessage[] = await store.read
      .selectFrom("messages")
      .select(["id", "seq", "role", "external_id", "answers_seq", "metadata"])
      .where("conversation_id", "=", conversation.id)
      .orderBy("seq")
      .execute();
    const say = (text: string): unknown => violations.push(`${conversation.id} (${conversation.channel}): ${text}`);
    if (messages.some(({ seq }, i) => seq !== i + 1))
      say(`the numbers have gaps: ${messages.map(({ seq }) => seq).join()}`);
    if (conversation.last_seq !== messages.length || conversation.message_count !== messages.length) {
      say(
        `${messages.length} messages, last_seq ${conversation.last_seq}, message_count ${conversation.message_count}`,
      );
    }
    if (conversation.status !== "open") say(`it is ${conversation.status}`);
    const externalIds = messages.flatMap(({ role, external_id }) => (role === "user" ? [external_id] : []));
    if (new Set(externalIds).size !== externalIds.length) say("a customer's message is stored twice");
    violations.push(...verifyAnswers(conversation, messages));
    for (const [clientId, { seq, id }] of clientsMessages.get(conversation.id) ?? []) {
      const stored = messages[seq - 1];
      if (stored?.id !== id || stored.external_id?.endsWith(`:${clientId}`) !== true) {
        say(`the acknowledged message ${seq} is not there`);
      }
    }
    for (const { metadata, seq } of messages) {
      const marker = metadata === null ? undefined : (JSON.parse(metadata) as { readonly marker?: string }).marker;
      if (marker === undefined) continue;
      const answer = messages.find(({ answers_seq }) => answers_seq === seq)?.id;
      byMarker.set(marker, [...(byMarker.get(marker) ?? []), { conversationId: conversation.id, answer }]);
    }
  }

  for (const { marker, conversationId, messageId } of answered) {
    const found = byMarker.get(marker) ?? [];
    if (found.length !== 1 || found[0]?.conversationId !== conversationId || found[0].answer !== messageId) {
      violations.push(
        `an answered question of ${conversationId} is ${found.length} times in the database, or has another answer`,
      );
    }
  }

  const stuck = await store.read
    .selectFrom("outbox")
    .select(["lane", "kind"])
    .where("due_at", "<", Date.now() - stuckMs)
    .execute();
  for (const { lane, kind } of stuck) violations.push(`work is stuck: ${kind} of ${lane}`);
  const unsent = await store.read
    .selectFrom("deliveries")
    .select(["id", "state"])
    .where("state", "in", ["queued", "sending", "failed", "unknown"])
    .execute();
  for (const { id, state } of unsent) violations.push(`the delivery ${id} is ${state}`);
  violations.push(...(await verifyReports(store, workspaceId)));
  violations.push(...(await verifyIntegrity(store)));
  return violations;
}

/** Each question has exactly one answer: over the API one for each, elsewhere one for a burst of messages. */
function verifyAnswers(
  { id, channel }: { readonly id: string; readonly channel: string },
  messages: readonly StoredMessage[],
): readonly string[] {
  const violations: string[] = [];
  const answers = messages.filter(({ role }) => role === "assistant");
  const settled = answers.map(({ answers_seq }) => answers_seq);
  if (new Set(settled).size !== settled.length)
    violations.push(`${id}: a message was answered twice: ${settled.join()}`);
  for (const { seq, role } of messages) {
    if (role !== "user") continue;
    const answer = answers.find(
      ({ seq: at, answers_seq }) => at > seq && (channel === "api" ? answers_seq === seq : (answers_seq ?? 0) >= seq),
    );
    if (answer === undefined) violations.push(`${id} (${channel}): message ${seq} of ${messages.length} has no answer`);
  }
  return violations;
}

/** The reports equal a recount from the stored conversations. */
async function verifyReports(store: OpenStore, workspaceId: string): Promise<readonly string[]> {
  const today = Math.floor(Date.now() / 86_400_000);
  const days = { from: today - 7, to: today + 1 };
  const { differences, changing } = await recountReports(store, { workspaceId, days, repair: false });
  const counted = await storedCells(store.read, workspaceId, days);
  return [
    ...(counted.length === 0 ? ["the reports count nothing"] : []),
    ...differences.map((difference) => `the reports differ from a recount: ${JSON.stringify(difference)}`),
    ...changing.map((day) => `the reports of day ${day} still change`),
  ];
}

async function verifyIntegrity(store: OpenStore): Promise<readonly string[]> {
  if (store.dialect !== "sqlite") return [];
  const { rows } = await sql<{ readonly integrity_check: string }>`pragma integrity_check`.execute(store.read);
  return rows.flatMap(({ integrity_check }) =>
    integrity_check === "ok" ? [] : [`integrity_check: ${integrity_check}`],
  );
}
