/** One request and its answer for each operation, as the reference shows them. A test holds them against the schemas. */
export interface Example {
  /** Values for the path and the query string. */
  readonly parameters?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Fields of a form; a value that begins with @ names a file. */
  readonly form?: Readonly<Record<string, string>>;
  readonly response?: unknown;
}

const workspace_id = "wt_8v6qe3_qj5ay4dsa8";
const conversation_id = "conv_01k9z6t2h4e8rj5vwm0c3x7a1b";
const contact_id = "con_01k9z6t2h4e8rj5vwm0c3x7a1c";
const document_id = "doc_01k9z6q8t3m5n7p2r4s6v8x0yz";
const at = "2026-01-31T09:30:00.000Z";
const pagination = { next_cursor: "cur_Zm9sbG93aW5nIHBhZ2U", has_more: false };

const source = {
  title: "Shipping",
  url: "https://shop.example/shipping",
  chunk: "We deliver to the whole EU within five working days.",
  score: 0.87,
};

const item = {
  id: conversation_id,
  workspace_id,
  channel: "api",
  status: "open",
  started_at: at,
  last_message_at: at,
  message_count: 2,
  customer: { email: "ada@example.com", name: "Ada", phone: null },
  tags: ["shipping"],
  sla_state: "in_compliance",
  assigned_to: null,
  priority: "normal",
  contact_id,
  previous_conversation_id: null,
};

const question = {
  id: "msg_01k9z6t2h4e8rj5vwm0c3x7a1d",
  role: "user",
  content: "Do you deliver to Portugal?",
  created_at: at,
  reactions: [{ emoji: "👀", author: "mia@shop.example", role: "agent" }],
};

const answer = {
  id: "msg_01k9z6t2h4e8rj5vwm0c3x7a1e",
  role: "assistant",
  content: "We deliver to the whole EU within five working days.",
  created_at: at,
  sources: [source],
  tokens_used: 0,
  confidence: "high",
  skills_fired: ["knowledge_search"],
};

const reply = {
  id: "msg_01k9z6t2h4e8rj5vwm0c3x7a1f",
  role: "agent",
  content: "Your parcel leaves tomorrow.",
  created_at: at,
  author: "mia@shop.example",
  author_name: "Mia",
};

const note = {
  id: "note_01k9z6t2h4e8rj5vwm0c3x7a1g",
  conversation_id,
  content: "Asked the warehouse.",
  author: "mia@shop.example",
  created_at: at,
};

const conversation = {
  ...item,
  messages: [question, answer],
  internal_notes: [note],
  audit_log: [
    {
      id: "aud_01k9z6t2h4e8rj5vwm0c3x7a1h",
      action: "note_added",
      actor: { type: "api_key", id: "key_01k9z6t2h4e8rj5vwm0c3x7a1i", name: "my server" },
      from: null,
      to: null,
      detail: null,
      created_at: at,
    },
  ],
};

const contact = {
  id: contact_id,
  workspace_id,
  name: "Ada",
  email: "ada@example.com",
  phone: null,
  user_id: "ada",
  verified: ["name", "email"],
  attributes: { plan: "pro" },
  created_at: at,
  updated_at: at,
};

const document = {
  id: document_id,
  workspace_id,
  source: "upload",
  title: "Shipping",
  url: null,
  status: "indexed",
  error: null,
  chunks: 4,
  pages: 1,
  audience: [],
  created_at: at,
  indexed_at: at,
};

const website = {
  ...document,
  source: "crawl",
  title: "shop.example",
  url: "https://shop.example/help/",
  status: "pending",
  chunks: 0,
  pages: 0,
  indexed_at: null,
  crawled_at: null,
};

const query = {
  workspace_id,
  query: "Do you deliver to Portugal?",
  // Without a proof, name and e-mail address would be dropped.
  user: {
    user_id: "ada",
    hash: "5d5c1b1f4b3c4f7c0f0a8e2b9d6e1a7c3f9b2d4e6a8c0b1d3f5e7a9c2b4d6f80",
    name: "Ada",
    email: "ada@example.com",
  },
};

const answered = {
  answer: answer.content,
  sources: [source],
  conversation_id,
  message_id: answer.id,
  skills_fired: ["knowledge_search"],
  latency_ms: 12,
  tokens_used: 0,
  confidence: "high",
};

export const examples: Readonly<Record<string, Example>> = {
  "POST /v1/query": { body: query, response: answered },
  "POST /v1/query/stream": {
    body: query,
    response: `event: token\ndata: ${JSON.stringify({ delta: answer.content })}\n\nevent: done\ndata: ${JSON.stringify(answered)}\n\n`,
  },
  "GET /v1/conversations": {
    parameters: { workspace_id, status: "open", limit: 20 },
    response: { conversations: [item], pagination },
  },
  "GET /v1/analytics": {
    parameters: { from: "2026-01-01", to: "2026-01-31", by: "channel", metrics: ["resolved"] },
    response: {
      timezone: "Europe/Berlin",
      from: "2026-01-01",
      to: "2026-01-31",
      by: "channel",
      totals: { resolved: 410 },
      rows: [
        { key: "widget", name: "widget", values: { resolved: 320 } },
        { key: "telegram", name: "telegram", values: { resolved: 90 } },
      ],
    },
  },
  "GET /v1/contacts": {
    parameters: { email: "ada@example.com", limit: 20 },
    response: { contacts: [contact], pagination },
  },
  "GET /v1/contacts/{contact_id}": {
    parameters: { contact_id },
    response: {
      contact: {
        ...contact,
        identities: [{ kind: "user_id", value: "ada", verified: true, created_at: at }],
        merged_contact_ids: [],
        conversation_count: 1,
      },
    },
  },
  "GET /v1/conversations/{conversation_id}": { parameters: { conversation_id }, response: conversation },
  "PATCH /v1/conversations/{conversation_id}": {
    parameters: { conversation_id },
    body: { status: "claimed", assigned_to: "mia@shop.example", tags: ["shipping"], priority: "high" },
    response: {
      ...conversation,
      status: "claimed",
      assigned_to: "mia@shop.example",
      tags: ["shipping"],
      priority: "high",
    },
  },
  "DELETE /v1/conversations/{conversation_id}": { parameters: { conversation_id } },
  "GET /v1/conversations/{conversation_id}/messages": {
    parameters: { conversation_id, order: "desc", limit: 10 },
    response: { messages: [answer, question], pagination },
  },
  "POST /v1/conversations/{conversation_id}/messages": {
    parameters: { conversation_id },
    body: { content: reply.content, author_email: reply.author },
    response: reply,
  },
  "PUT /v1/conversations/{conversation_id}/messages/{message_id}/reaction": {
    parameters: { conversation_id, message_id: question.id },
    body: { emoji: "❤️", author_email: reply.author },
    response: { ...question, reactions: [{ emoji: "❤️", author: reply.author, role: "agent" }] },
  },
  "POST /v1/conversations/{conversation_id}/notes": {
    parameters: { conversation_id },
    body: { content: note.content, author_email: note.author },
    response: note,
  },
  "POST /v1/conversations/bulk": {
    body: { action: "tag", conversation_ids: [conversation_id, "conv_unknown"], tags: ["refund"] },
    response: {
      results: [
        { conversation_id, ok: true, status: "open" },
        {
          conversation_id: "conv_unknown",
          ok: false,
          error: { code: "conversation_not_found", detail: "there is no conversation with this id" },
        },
      ],
    },
  },
  "POST /v1/documents/upload": {
    form: { file: "@shipping.md", audience: "" },
    response: { document: { ...document, status: "pending", chunks: 0, pages: 0, indexed_at: null } },
  },
  "POST /v1/documents/crawl": {
    body: { url: "https://shop.example/help/", max_pages: 20 },
    response: { document: website },
  },
  "POST /v1/documents/{document_id}/recrawl": { parameters: { document_id }, response: { document: website } },
  "GET /v1/documents": {
    parameters: { status: "indexed", limit: 20 },
    response: { documents: [document], pagination },
  },
  "GET /v1/documents/{document_id}": { parameters: { document_id }, response: { document } },
  "DELETE /v1/documents/{document_id}": { parameters: { document_id } },
};
