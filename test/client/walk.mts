// Uses the whole contract through the generated client, as an API customer would.
// src/http/openapi/openapi.client.test.ts generates the client from /openapi.json, type-checks this file and runs it.
import assert from "node:assert/strict";
import * as api from "./client.ts";

const { API_URL = "", API_KEY = "", WORKSPACE_ID = "" } = process.env;
api.defaults.baseUrl = API_URL;
api.defaults.headers = { authorization: `Bearer ${API_KEY}` };

/** Asserts success and returns the data; the status narrows the type. */
function ok<S extends number, T extends { readonly status: number }>(
  status: S,
  answered: T,
): Extract<T, { status: S }> {
  assert.equal(answered.status, status, JSON.stringify(answered));
  return answered as Extract<T, { status: S }>;
}

async function refused(
  code: api.Error["code"],
  request: Promise<{ readonly status: number; readonly data?: unknown }>,
) {
  const { status, data } = await request;
  const error = data as api.Error;
  assert.equal(error.code, code, `${status} ${JSON.stringify(error)}`);
  assert.match(error.request_id, /^req_/);
}

async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Documents
const file = new File(["# Shipping\n\nWe deliver to the whole EU within five working days.\n"], "shipping.md");
const uploaded = ok(202, await api.uploadDocument({ file, workspace_id: WORKSPACE_ID, audience: "" })).data.document;
const indexed = await eventually(
  async () => ok(200, await api.getDocument(uploaded.id)).data.document,
  ({ status }: api.Document) => status === "indexed" || status === "failed",
);
assert.deepEqual([indexed.status, indexed.source, indexed.error], ["indexed", "upload", null]);
const listed = ok(200, await api.listDocuments({ status: "indexed", limit: 1 })).data;
assert.equal(listed.documents[0]?.id, uploaded.id);
assert.equal(
  ok(200, await api.listDocuments({ status: "indexed", cursor: listed.pagination.next_cursor })).status,
  200,
);
await refused("not_a_website", api.recrawlWebsite(uploaded.id));
const website = ok(202, await api.crawlWebsite({ url: "http://127.0.0.1/", max_pages: 5 })).data.document;
assert.deepEqual([website.source, website.url], ["crawl", "http://127.0.0.1/"]);
assert.equal(ok(202, await api.recrawlWebsite(website.id)).data.document.id, website.id);
await refused("invalid_parameter", api.crawlWebsite({ url: "no address" }));
await refused("document_not_found", api.getDocument("doc_none"));

// Queries
const question: api.Query = {
  workspace_id: WORKSPACE_ID,
  query: "Do you deliver to the EU?",
  top_k: 3,
  strictness: "strict",
  temperature: 0,
  document_ids: [uploaded.id],
  user: { user_id: "ada", name: "Ada", email: "ada@shop.example" },
  metadata: { page: "https://shop.example/cart", items: [1, null] },
};
const answer: api.Answer = ok(200, await api.query(question, { idempotencyKey: "walk-1" })).data;
assert.match(answer.answer, /five working days/);
const [source] = answer.sources;
assert.deepEqual([source?.title.includes("Shipping"), source?.url, typeof source?.score], [true, "", "number"]);
assert.deepEqual(answer.skills_fired, ["knowledge_search"]);
const again = ok(200, await api.query(question, { idempotencyKey: "walk-1" })).data;
assert.deepEqual(again, answer);
await refused("duplicate_request_id", api.query({ ...question, query: "Other" }, { idempotencyKey: "walk-1" }));
await refused("invalid_top_k", api.query({ ...question, top_k: 11 }));
await refused("message_too_long", api.query({ ...question, query: "x".repeat(1_001) }));
await refused("document_not_found", api.query({ ...question, document_ids: ["doc_none"] }));
await refused("workspace_not_found", api.query({ ...question, workspace_id: "wt_zzzzzz_zzzzzzzzzz" }));
await refused("missing_field", api.query({ workspace_id: WORKSPACE_ID }));

// The generated client returns the stream as text, which the document's types describe event by event.
const id = answer.conversation_id;
const streamed = await api.streamQuery({ workspace_id: WORKSPACE_ID, conversation_id: id, query: "How long?" });
assert.equal(streamed.status, 200);
const events = [...String(streamed.data).matchAll(/^event: (.+)\ndata: (.+)$/gm)].map(
  ([, event, data = ""]) => ({ event, data: JSON.parse(data) as unknown }) as api.QueryStreamEvent,
);
let text = "";
for (const event of events) {
  if (event.event === "token") text += event.data.delta;
  else if (event.event === "done") assert.equal(event.data.answer, text);
  else assert.fail(event.data.detail);
}
assert.equal(events.at(-1)?.event, "done");

// Conversations
const page = ok(200, await api.listConversations(WORKSPACE_ID, { status: "open", channel: "api", limit: 1 })).data;
const [item] = page.conversations;
assert.deepEqual([item?.id, item?.message_count, item?.sla_state], [id, 4, "in_compliance"]);
const next = { status: "open", channel: "api", cursor: page.pagination.next_cursor } as const;
assert.deepEqual(ok(200, await api.listConversations(WORKSPACE_ID, next)).data.conversations, []);
await refused("invalid_cursor", api.listConversations(WORKSPACE_ID, { cursor: page.pagination.next_cursor }));
for (const filter of [
  { since: "2031-W20", until: "2032-01-01" },
  { q: "deliver" },
  { slaState: "in_compliance" },
] satisfies NonNullable<Parameters<typeof api.listConversations>[1]>[]) {
  // A new message is found by `q` after a moment.
  await eventually(
    async () => ok(200, await api.listConversations(WORKSPACE_ID, filter)).data.conversations,
    ({ length }: readonly unknown[]) => length === 1,
  );
}
const today = new Date().toISOString().slice(0, 10);
const numbers = ok(
  200,
  await api.readAnalytics("2026-01-01", today, { by: "channel", metrics: ["conversations"] }),
).data;
assert.ok((numbers.totals["conversations"] ?? 0) >= 0);

// Contacts
const customers = ok(200, await api.listContacts({ limit: 5 })).data;
assert.deepEqual([customers.contacts.length, customers.contacts[0]?.id], [1, item?.contact_id]);
const customer = ok(200, await api.getContact(item?.contact_id ?? "")).data.contact;
assert.equal(customer.conversation_count, 1);
await refused("not_found", api.getContact("con_none"));

// Messages
const messages = ok(200, await api.listMessages(id, { order: "desc", limit: 2 })).data;
assert.deepEqual(
  messages.messages.map(({ role }: api.Message) => role),
  ["assistant", "user"],
);
assert.equal(messages.pagination.has_more, true);

const reply: api.Message = ok(
  201,
  await api.sendReply(id, { content: "It leaves tomorrow.", author_email: "mia@shop.example" }),
).data;
assert.deepEqual([reply.role, reply.author], ["agent", "mia@shop.example"]);
// Queries have no platform on which somebody would see it.
const reaction: api.NewReaction = { emoji: "👍", author_email: "mia@shop.example" };
await refused("invalid_transition", api.setReaction(id, messages.messages[1]?.id ?? "", reaction));
const note: api.Note = ok(201, await api.addNote(id, { content: "Asked the warehouse." })).data;
assert.match(note.author, /^api_key:/);
const change: api.ConversationUpdate = {
  tags: ["VIP"],
  priority: "high",
  internal_notes: [{ content: "Second", author_email: "mia@shop.example" }],
};
const changed: api.Conversation = ok(200, await api.updateConversation(id, change)).data;
assert.deepEqual(
  [changed.status, changed.tags, changed.priority, changed.assigned_to],
  ["claimed", ["vip"], "high", "mia@shop.example"],
);
assert.equal(changed.internal_notes.length, 2);
await refused("missing_field", api.updateConversation(id, { status: "claimed" }));
await refused("invalid_transition", api.updateConversation(id, { status: "archived" }));
const snoozed = ok(200, await api.updateConversation(id, { status: "snoozed", snooze_hours: 2 })).data;
assert.match(snoozed.snoozed_until ?? "", /Z$/);
const { results } = ok(
  200,
  await api.bulkUpdateConversations({ action: "resolve", conversation_ids: [id, "conv_none"] }),
).data;
assert.deepEqual(
  results.map(({ ok: done, status, error }: api.BulkResult) => [done, status, error?.code]),
  [
    [true, "resolved", undefined],
    [false, undefined, "conversation_not_found"],
  ],
);
const single = ok(200, await api.getConversation(id)).data;
assert.match(single.resolved_at ?? "", /Z$/);
assert.ok(
  single.audit_log.some(
    ({ action, actor }: api.AuditEntry) => action === "priority_changed" && actor.type === "api_key",
  ),
);

// Cleanup
ok(204, await api.deleteConversation(id));
await refused("conversation_not_found", api.getConversation(id));
ok(204, await api.deleteDocument(uploaded.id));
api.defaults.headers = {};
await refused("missing_auth", api.listDocuments());
