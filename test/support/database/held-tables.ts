import type { Database } from "#database/schema/tables.ts";

export interface TableHandling {
  /** The line types of a workspace's export that hold its rows, or why none does. */
  readonly workspace: readonly string[] | string;
  /** The same for a customer's export. */
  readonly customer: readonly string[] | string;
  /** Why rows of a deleted workspace stay; null if none does. */
  readonly deleted: string | null;
}

const notOfCustomers = "contains no customer data";
const ofTheProgram = "describes the program's processes, and no workspace";
const inEngine = "row numbers only, until the search engine's entries are deleted by them";
const derived = "derived from exported rows";

/**
 * Says for each table how it is exported and deleted. Kept by hand: a new table does not compile without an entry here.
 */
export const heldTables: Readonly<Record<keyof Database, TableHandling>> = {
  workspaces: {
    workspace: ["workspace"],
    customer: notOfCustomers,
    deleted: "its id, so that its keys get workspace_not_found",
  },
  api_keys: {
    workspace: ["api_key"],
    customer: notOfCustomers,
    deleted: "its hash, so that it gets workspace_not_found",
  },
  agents: { workspace: ["agent"], customer: notOfCustomers, deleted: null },
  agent_tokens: { workspace: ["agent_session"], customer: notOfCustomers, deleted: null },
  teams: { workspace: ["team"], customer: notOfCustomers, deleted: null },
  team_members: { workspace: ["team"], customer: notOfCustomers, deleted: null },
  recovery_codes: { workspace: "hashes of codes that sign in", customer: notOfCustomers, deleted: null },
  agent_identities: { workspace: ["agent_identity"], customer: notOfCustomers, deleted: null },
  sign_in_settings: { workspace: ["sign_in_settings"], customer: notOfCustomers, deleted: null },
  oauth_tokens: { workspace: "hashes that are valid for an hour", customer: notOfCustomers, deleted: null },
  access_tokens: { workspace: ["access_token"], customer: notOfCustomers, deleted: null },
  contacts: { workspace: ["contact"], customer: ["contact"], deleted: null },
  identities: { workspace: ["identity"], customer: ["identity"], deleted: null },
  contact_merges: { workspace: ["contact_merge"], customer: ["contact_merge"], deleted: null },
  accounts: { workspace: ["account"], customer: notOfCustomers, deleted: null },
  conversations: { workspace: ["conversation"], customer: ["conversation"], deleted: null },
  messages: { workspace: ["message"], customer: ["message"], deleted: null },
  attachments: { workspace: ["attachment"], customer: ["attachment"], deleted: null },
  conversation_tags: { workspace: ["conversation"], customer: ["conversation"], deleted: null },
  notes: { workspace: ["note"], customer: ["note"], deleted: null },
  audit: { workspace: ["audit"], customer: ["audit"], deleted: "one entry about the deletion" },
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
    workspace: "pending work on exported rows, which it names by id",
    customer: "pending work on exported rows, which it names by id",
    deleted: "the row of the final check by a worker, and the program's own rows",
  },
  deliveries: { workspace: ["delivery"], customer: ["delivery"], deleted: null },
  receipts: { workspace: ["delivery"], customer: ["delivery"], deleted: null },
  webhooks: { workspace: ["webhook"], customer: notOfCustomers, deleted: null },
  events: { workspace: ["event"], customer: ["event"], deleted: null },
  webhook_queue: {
    workspace: "the exported events that are not sent yet, which change from moment to moment",
    customer: "the exported events that are not sent yet, which change from moment to moment",
    deleted: null,
  },
  webhook_attempts: { workspace: ["webhook_attempt"], customer: ["webhook_attempt"], deleted: null },
  idempotency: { workspace: ["kept_response"], customer: ["kept_response"], deleted: null },
  counters: {
    workspace: ["usage"],
    customer: "counts under hashes, kept for a day",
    deleted: "counts under hashes of customers' and agents' names and networks, kept for a day",
  },
  conversation_text: { workspace: derived, customer: derived, deleted: null },
  search_collections: {
    workspace: "the names of collections in an external search engine",
    customer: notOfCustomers,
    deleted: "the name of the collection, which a process with the search engine drops later",
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
    workspace: "counts firings of rules, each of which is in the exported audit log",
    customer: "counts firings of rules, each of which is in the exported audit log",
    deleted: null,
  },
  rule_turns: { workspace: "the agent to assign next", customer: notOfCustomers, deleted: null },
  skill_calls: {
    workspace: "encrypted records against repeated calls; results are in the exported answers and audit log",
    customer: "encrypted records against repeated calls; results are in the exported answers and audit log",
    deleted: null,
  },
  account_state: {
    workspace: "positions in mailboxes and in running calls, which mean nothing elsewhere",
    customer: notOfCustomers,
    deleted: null,
  },
  conversation_links: {
    workspace: "ids of e-mails, which the exported messages and deliveries contain",
    customer: "ids of e-mails, which the exported messages and deliveries contain",
    deleted: null,
  },
  channel_installs: {
    workspace: "encrypted credentials of an app that is being installed, kept for a day",
    customer: notOfCustomers,
    deleted: null,
  },
  skipped_messages: {
    workspace: "mails that are in the mailbox, listed for 30 days",
    customer: "mails that became no conversation; erased by their sender",
    deleted: null,
  },
  account_status: { workspace: ofTheProgram, customer: ofTheProgram, deleted: null },
  report_counts: { workspace: ["report_count"], customer: "sums, which hold no personal data", deleted: null },
  report_changes: {
    workspace: "increments of the exported sums, added within minutes",
    customer: "sums, which hold no personal data",
    deleted: null,
  },
  answer_feedback: { workspace: ["answer_feedback"], customer: ["answer_feedback"], deleted: null },
  reactions: { workspace: ["reaction"], customer: ["reaction"], deleted: null },
  weak_answers: { workspace: ["weak_answer"], customer: ["weak_answer"], deleted: null },
  question_groups: { workspace: ["question_group"], customer: notOfCustomers, deleted: null },
  surveys: { workspace: ["survey"], customer: ["survey"], deleted: null },
  ratings: { workspace: ["rating"], customer: ["rating"], deleted: null },
  connection_leases: { workspace: ofTheProgram, customer: ofTheProgram, deleted: null },
  requests_in_flight: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
  commit_marks: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
  processes: { workspace: ofTheProgram, customer: ofTheProgram, deleted: ofTheProgram },
};
