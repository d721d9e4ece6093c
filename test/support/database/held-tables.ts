import type { Database } from "#database/schema/tables.ts";

export interface Held {
  /** The lines of a workspace's export that tell of it, or why none do. */
  readonly workspace: readonly string[] | string;
  /** The same of a customer's export. */
  readonly customer: readonly string[] | string;
  /** Why rows of a deleted workspace stay; null: none does. */
  readonly deleted: string | null;
}

const notOfCustomers = "holds nothing of customers";
const ofTheProgram = "tells how the program runs, and of no workspace";
const inEngine = "numbers only, until what the search engine holds is removed by them";
const derived = "made of what is exported";

/** What becomes of each table, by hand: a new one has to be decided on here before anything compiles. */
export const heldTables: Readonly<Record<keyof Database, Held>> = {
  workspaces: { workspace: ["workspace"], customer: notOfCustomers, deleted: "its id, so that keys are told of it" },
  api_keys: { workspace: ["api_key"], customer: notOfCustomers, deleted: "its hash, so that it is told of it" },
  agents: { workspace: ["agent"], customer: notOfCustomers, deleted: null },
  agent_tokens: { workspace: ["agent_session"], customer: notOfCustomers, deleted: null },
  contacts: { workspace: ["contact"], customer: ["contact"], deleted: null },
  identities: { workspace: ["identity"], customer: ["identity"], deleted: null },
  contact_merges: { workspace: ["contact_merge"], customer: ["contact_merge"], deleted: null },
  accounts: { workspace: ["account"], customer: notOfCustomers, deleted: null },
  conversations: { workspace: ["conversation"], customer: ["conversation"], deleted: null },
  messages: { workspace: ["message"], customer: ["message"], deleted: null },
  attachments: { workspace: ["attachment"], customer: ["attachment"], deleted: null },
  conversation_tags: { workspace: ["conversation"], customer: ["conversation"], deleted: null },
  notes: { workspace: ["note"], customer: ["note"], deleted: null },
  audit: { workspace: ["audit"], customer: ["audit"], deleted: "one entry, that it was deleted" },
  documents: { workspace: ["document"], customer: notOfCustomers, deleted: null },
  document_bodies: { workspace: ["document"], customer: notOfCustomers, deleted: null },
  document_body_parts: { workspace: ["document_body"], customer: notOfCustomers, deleted: null },
  crawls: { workspace: ["crawl"], customer: notOfCustomers, deleted: null },
  crawl_pages: { workspace: ["crawl_page"], customer: notOfCustomers, deleted: null },
  chunks: { workspace: ["passage"], customer: notOfCustomers, deleted: null },
  chunk_vectors: { workspace: derived, customer: notOfCustomers, deleted: null },
  vector_models: { workspace: derived, customer: notOfCustomers, deleted: null },
  knowledge_collections: { workspace: derived, customer: notOfCustomers, deleted: inEngine },
  knowledge_written: { workspace: derived, customer: notOfCustomers, deleted: inEngine },
  inbound_events: { workspace: ["received_event"], customer: ["received_event"], deleted: null },
  outbox: {
    workspace: "names by their ids what is to be done with what is exported",
    customer: "names by their ids what is to be done with what is exported",
    deleted: "the row by which a worker looks after it once more, and those of the program",
  },
  deliveries: { workspace: ["delivery"], customer: ["delivery"], deleted: null },
  receipts: { workspace: ["delivery"], customer: ["delivery"], deleted: null },
  webhooks: { workspace: ["webhook"], customer: notOfCustomers, deleted: null },
  events: { workspace: ["event"], customer: ["event"], deleted: null },
  webhook_queue: {
    workspace: "which of the exported events are still to be sent, from one moment to the next",
    customer: "which of the exported events are still to be sent, from one moment to the next",
    deleted: null,
  },
  webhook_attempts: { workspace: ["webhook_attempt"], customer: ["webhook_attempt"], deleted: null },
  idempotency: { workspace: ["kept_response"], customer: ["kept_response"], deleted: null },
  counters: {
    workspace: ["usage"],
    customer: "counts under hashes, for a day",
    deleted: "counts under hashes of customers' and agents' names and networks, for a day",
  },
  conversation_text: { workspace: derived, customer: derived, deleted: null },
  search_collections: {
    workspace: "the names of collections in a search engine outside",
    customer: notOfCustomers,
    deleted: "the name of what a server with the search engine then drops",
  },
  desk_threads: {
    workspace: "where on a platform an exported conversation is shown to agents",
    customer: "where on a platform an exported conversation is shown to agents",
    deleted: null,
  },
  desk_posts: {
    workspace: "where on a platform an exported message or note is shown to agents",
    customer: "where on a platform an exported message or note is shown to agents",
    deleted: null,
  },
  rule_firings: {
    workspace: "counts how often rules have fired; the exported audit log tells of each time",
    customer: "counts how often rules have fired; the exported audit log tells of each time",
    deleted: null,
  },
  rule_turns: { workspace: "whose turn it is next", customer: notOfCustomers, deleted: null },
  skill_calls: {
    workspace: "sealed, so that no call is made twice; the exported answers and audit log tell of it",
    customer: "sealed, so that no call is made twice; the exported answers and audit log tell of it",
    deleted: null,
  },
  account_state: {
    workspace:
      "up to where a mailbox has been read, and how far a running call has come, which means nothing elsewhere",
    customer: notOfCustomers,
    deleted: null,
  },
  conversation_links: {
    workspace: "ids of mails, which stand in the exported messages and deliveries",
    customer: "ids of mails, which stand in the exported messages and deliveries",
    deleted: null,
  },
  connection_leases: { workspace: ofTheProgram, customer: ofTheProgram, deleted: null },
  requests_in_flight: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
  commit_marks: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
  processes: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
};
