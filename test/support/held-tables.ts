import type { Database } from "#store/schema.ts";

export interface Held {
  /** The lines of a workspace's export that tell of it, or why none do. */
  readonly workspace: readonly string[] | string;
  /** The same of a customer's export. */
  readonly customer: readonly string[] | string;
  /** Rows of a deleted workspace: none, or why some stay. */
  readonly deleted: "none" | string;
}

const notOfCustomers = "holds nothing of customers";
const ofTheProgram = "tells how the program runs, and of no workspace";
const derived = "made of what is exported";

/** What becomes of each table, by hand: a new one has to be decided on here before anything compiles. */
export const heldTables: Readonly<Record<keyof Database, Held>> = {
  workspaces: { workspace: ["workspace"], customer: notOfCustomers, deleted: "its id, so that keys are told of it" },
  api_keys: { workspace: ["api_key"], customer: notOfCustomers, deleted: "its hash, so that it is told of it" },
  agents: { workspace: ["agent"], customer: notOfCustomers, deleted: "none" },
  agent_tokens: { workspace: ["agent_session"], customer: notOfCustomers, deleted: "none" },
  contacts: { workspace: ["contact"], customer: ["contact"], deleted: "none" },
  identities: { workspace: ["identity"], customer: ["identity"], deleted: "none" },
  contact_merges: { workspace: ["contact_merge"], customer: ["contact_merge"], deleted: "none" },
  accounts: { workspace: ["account"], customer: notOfCustomers, deleted: "none" },
  conversations: { workspace: ["conversation"], customer: ["conversation"], deleted: "none" },
  messages: { workspace: ["message"], customer: ["message"], deleted: "none" },
  conversation_tags: { workspace: ["conversation"], customer: ["conversation"], deleted: "none" },
  notes: { workspace: ["note"], customer: ["note"], deleted: "none" },
  audit: { workspace: ["audit"], customer: ["audit"], deleted: "one entry, that it was deleted" },
  documents: { workspace: ["document"], customer: notOfCustomers, deleted: "none" },
  document_bodies: { workspace: ["document"], customer: notOfCustomers, deleted: "none" },
  document_body_parts: { workspace: ["document_body"], customer: notOfCustomers, deleted: "none" },
  crawls: { workspace: ["crawl"], customer: notOfCustomers, deleted: "none" },
  crawl_pages: { workspace: ["crawl_page"], customer: notOfCustomers, deleted: "none" },
  chunks: { workspace: ["passage"], customer: notOfCustomers, deleted: "none" },
  inbound_events: { workspace: ["received_event"], customer: ["received_event"], deleted: "none" },
  outbox: {
    workspace: "names by their ids what is to be done with what is exported",
    customer: "names by their ids what is to be done with what is exported",
    deleted: "the row by which a worker looks after it once more, and those of the program",
  },
  deliveries: { workspace: ["delivery"], customer: ["delivery"], deleted: "none" },
  receipts: { workspace: ["delivery"], customer: ["delivery"], deleted: "none" },
  webhooks: { workspace: ["webhook"], customer: notOfCustomers, deleted: "none" },
  events: { workspace: ["event"], customer: ["event"], deleted: "none" },
  webhook_queue: {
    workspace: "which of the exported events are still to be sent, from one moment to the next",
    customer: "which of the exported events are still to be sent, from one moment to the next",
    deleted: "none",
  },
  webhook_attempts: { workspace: ["webhook_attempt"], customer: ["webhook_attempt"], deleted: "none" },
  idempotency: { workspace: ["kept_response"], customer: ["kept_response"], deleted: "none" },
  counters: {
    workspace: ["usage"],
    customer: "counts under hashes, for a day",
    deleted: "counts under hashes of customers' and agents' names and networks, for a day",
  },
  conversation_text: { workspace: derived, customer: derived, deleted: "none" },
  search_collections: {
    workspace: "the names of collections in a search engine outside",
    customer: notOfCustomers,
    deleted: "the name of what a server with the search engine then drops",
  },
  connection_leases: { workspace: ofTheProgram, customer: ofTheProgram, deleted: "none" },
  processes: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
};
