import type { Generated } from "kysely";
import type { Status } from "#domain/conversation/status.ts";
import type { AuditAction, Channel, Confidence, Role } from "#domain/conversation/message.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import type { Plan } from "#domain/workspace/settings.ts";
import type {
  DocumentsTable,
  DocumentBodiesTable,
  DocumentBodyPartsTable,
  CrawlsTable,
  CrawlPagesTable,
  ChunksTable,
  KnowledgeCollectionsTable,
  KnowledgeWrittenTable,
  VectorModelsTable,
  ChunkVectorsTable,
} from "./knowledge.ts";
import type { CommitMarksTable, ConnectionLeasesTable, ProcessesTable, RequestsInFlightTable } from "./processes.ts";
import type { DeskPostsTable, DeskThreadsTable } from "./desk.ts";
import type { RuleFiringsTable, RuleTurnsTable, SkillCallsTable } from "./automation.ts";
import type { WebhooksTable, EventsTable, WebhookQueueTable, WebhookAttemptsTable } from "./webhooks.ts";

// Times are epoch milliseconds, booleans 0 or 1, JSON is text: what both databases store alike.

export type Flag = 0 | 1;

export interface WorkspacesTable {
  id: string;
  name: string;
  plan: Plan;
  /** Sealed with the installation's secret. */
  identity_secret: string;
  /** JSON: Partial<WorkspaceSettings>. */
  settings: string;
  /** Rises whenever a document's indexed version changes; embedded indexes catch up by it. */
  knowledge_version: number;
  created_at: number;
  deleted_at: number | null;
  /** SHA-256 of the name by which the configuration file made it; null: it was made otherwise, or is deleted. */
  declared_as: Generated<string | null>;
}

export interface ApiKeysTable {
  id: string;
  workspace_id: string;
  name: string;
  /** SHA-256 of the whole key, hex. */
  hash: string;
  /** The key's last four characters, to tell keys apart. */
  hint: string;
  limit_minute: number | null;
  limit_day: number | null;
  expires_at: number | null;
  revoked_at: number | null;
  created_at: number;
}

export interface AgentsTable {
  id: string;
  workspace_id: string;
  /** Lower case. */
  email: string;
  name: string;
  role: "agent" | "admin";
  /** scrypt, `salt:hash` in base64; null: signs in by link only. */
  password: string | null;
  /** Rules assign nothing to them. */
  away: Generated<Flag>;
  /** How the inbox sorts those that wait. */
  waiting_order: Generated<"urgency" | "latest">;
  created_at: number;
}

export interface AgentTokensTable {
  /** SHA-256 of the token, hex. */
  hash: string;
  agent_id: string;
  kind: "login_link" | "session";
  expires_at: number;
  used_at: number | null;
  created_at: number;
}

export interface ContactsTable {
  id: string;
  workspace_id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  /** The company's own id of this customer, once verified. */
  user_id: string | null;
  /** JSON: attributes that the company has signed or set for a verified user. */
  attributes: string;
  /** JSON: who vouches for name, email and phone; null: nobody. */
  provenance: string | null;
  /** The contact that this one was merged into; null for most. */
  merged_into: string | null;
  /** The contact at the end of the merges, which stands for the customer: often itself. */
  root_id: string;
  created_at: number;
  updated_at: number;
}

/** That two contacts were found to be one customer, with what it takes to undo it. */
export interface ContactMergesTable {
  id: string;
  workspace_id: string;
  from_contact_id: string;
  into_contact_id: string;
  /** What joined them: `user_id`, `email`, `phone`, or `operator`. */
  reason: string;
  /** JSON: the fields that the merge filled in, with their values. */
  filled: string;
  actor_type: string;
  actor_id: string | null;
  created_at: number;
  undone_at: number | null;
}

export interface IdentitiesTable {
  workspace_id: string;
  /** `widget`, `telegram` … for a platform's own id; `user_id`, `email`, `phone` for what people are known by. */
  kind: string;
  value: string;
  contact_id: string;
  verified: Flag;
  created_at: number;
}

export interface AccountsTable {
  id: string;
  workspace_id: string;
  channel: Channel;
  name: string;
  /** JSON, without secrets. */
  config: string;
  /** Sealed JSON, or null when the account has no secrets. */
  credentials: string | null;
  /** `builtin`, `file` (provisioned by the configuration file, read-only elsewhere) or `dashboard`. */
  managed_by: "builtin" | "file" | "dashboard";
  enabled: Flag;
  created_at: number;
}

export interface ConversationsTable {
  id: string;
  workspace_id: string;
  account_id: string;
  channel: Channel;
  /** The platform's own thread; one conversation for each, until it is deleted. */
  context_key: string;
  contact_id: string;
  status: Status;
  snoozed_from: Status | null;
  /** Null while snoozed: until the customer replies. */
  snoozed_until: number | null;
  priority: Priority;
  assigned_to: string | null;
  started_at: number;
  last_message_at: number;
  resolved_at: number | null;
  message_count: number;
  /** The sequence number of the newest message; numbers start at 1 and have no gaps. */
  last_seq: number;
  /** The newest customer message, and the newest that an automated reply (or its absence) has settled. */
  last_customer_seq: number;
  settled_seq: number;
  /** Answers of confidence `low` in a row. */
  low_streak: number;
  sla_state: SlaState;
  sla_elapsed_ms: number;
  sla_running_since: number | null;
  /** When the clock's timer row is due; null when there is none. */
  timer_at: number | null;
  customer_name: string | null;
  customer_email: string | null;
  /** Lower case, for the `email` filter. */
  customer_email_key: string | null;
  customer_phone: string | null;
  customer_verified: Flag;
  previous_conversation_id: string | null;
  /** The sequence number of the newest event that was stored; numbers start at 1 and have no gaps. */
  event_seq: Generated<number>;
  /** Whose it was before merges; null where it is `contact_id`. */
  own_contact_id: string | null;
  /** When the status last changed. */
  status_at: Generated<number>;
  /** Rules of time that were due up to then have been looked at. */
  rules_until: Generated<number>;
  /** How many changes people have made; what rules and clocks do does not count. */
  activity: Generated<number>;
  /** Why nothing that is sent reaches the customer, in words for agents; null: it does. */
  unreachable: string | null;
  /** The account that the customer wrote by last, when that is not the conversation's own: answers go by it too. */
  via_account_id: string | null;
  /** When the customer last wrote by the conversation's own account; null: never, or before this was kept. */
  customer_wrote_at: number | null;
  /** The largest order of the changes of its state that its platform has told; null: none. */
  platform_order: string | null;
  /** Raised by every change of this row: compare and set. */
  version: number;
}

export interface MessagesTable {
  id: string;
  conversation_id: string;
  seq: number;
  role: Role;
  content: string;
  author_id: string | null;
  author_name: string | null;
  /** The sender's own id of it: the platform's message id, the widget's client id. */
  external_id: string | null;
  /** Assistant messages: the customer message that this settles. */
  answers_seq: number | null;
  confidence: Confidence | null;
  /** JSON array of Source. */
  sources: string | null;
  /** JSON array of skill names. */
  skills: string | null;
  tokens_used: number | null;
  metadata: string | null;
  /** Assistant messages: JSON array of the audience tags that they were made with; null: none. */
  audience: string | null;
  /** How many attachments it has; null: none. */
  files: number | null;
  created_at: number;
  edited_at: number | null;
  deleted_at: number | null;
}

export type AttachmentState = "pending" | "stored" | "failed";

/** A file of a message, or one that was uploaded for a message to come. Its bytes are stored under workspace and id. */
export interface AttachmentsTable {
  id: string;
  workspace_id: string;
  account_id: string;
  /** Null: uploaded by a customer whose message is still to come. */
  conversation_id: string | null;
  /** Null: uploaded, and not sent yet. */
  message_id: string | null;
  position: number;
  name: string;
  /** As the sender says until it is stored; then what the bytes say of themselves. */
  media_type: string;
  bytes: number | null;
  state: AttachmentState;
  /** Why it failed, in words for agents. */
  reason: string | null;
  /** The platform's name for it, sealed; null once nobody has to ask for it any more. */
  ref: string | null;
  sha256: string | null;
  /** Who uploaded it: an agent's address, or the thread of a customer. Null for what a platform delivered. */
  uploaded_by: string | null;
  /** Hash of the platform's name for several events that are one message. */
  group_key: string | null;
  created_at: number;
  stored_at: number | null;
}

export interface ConversationTagsTable {
  workspace_id: string;
  tag: string;
  conversation_id: string;
  started_at: number;
  channel: Channel;
  status: Status;
  sla_state: SlaState;
}

export interface NotesTable {
  id: string;
  conversation_id: string;
  content: string;
  author: string;
  created_at: number;
}

/** Has no foreign key: it outlives what it tells of. */
export interface AuditTable {
  id: string;
  workspace_id: string;
  conversation_id: string | null;
  action: AuditAction;
  actor_type: string;
  actor_id: string | null;
  actor_name: string | null;
  from_value: string | null;
  to_value: string | null;
  detail: string | null;
  created_at: number;
}

export interface InboundEventsTable {
  id: Generated<number>;
  account_id: string;
  external_id: string;
  kind: string;
  /** JSON of the event as the adapter decoded it. */
  payload: string;
  /**
   * Edits and deletions: the platform's id of the message that they change. Of a message that is a part of one that is
   * stored: its own id.
   */
  target_external_id: string | null;
  conversation_id: string | null;
  message_id: string | null;
  received_at: number;
}

export interface OutboxTable {
  id: Generated<number>;
  /** Rows of one lane run one after the other, in the order of their ids. */
  lane: string;
  kind: string;
  /** JSON. */
  payload: string;
  due_at: number;
  attempts: number;
  lease_id: string | null;
  lease_until: number | null;
  /** Set when it was given up; it stays, visible and replayable. */
  dead_at: number | null;
  last_error: string | null;
  created_at: number;
}

export type DeliveryState = "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "unknown";

/** One platform call: a part of a message on its way out. */
export interface DeliveriesTable {
  id: string;
  account_id: string;
  conversation_id: string;
  message_id: string;
  part: number;
  /** JSON of the part as the adapter rendered it. */
  payload: string;
  state: DeliveryState;
  /** The platform's id of what was sent. */
  external_id: string | null;
  attempts: number;
  error: string | null;
  started_at: number | null;
  settled_at: number | null;
  /** Where it goes to in the account; null: to the conversation's own thread. */
  thread: string | null;
  /** Another part of the same message: once the customer has seen that, this one is not sent any more. */
  unless_seen: string | null;
}

export interface ReceiptsTable {
  delivery_id: string;
  state: DeliveryState;
  at: number;
}

export interface IdempotencyTable {
  key_id: string;
  path: string;
  idempotency_key: string;
  body_hash: string;
  /** Null while the first request is in flight. */
  status: number | null;
  response: string | null;
  /** The process that answers it; null: nobody does, and the next request takes it over. */
  process_id: string | null;
  /** What the work is known by where it is stored, so that whoever takes it over finds what was done already. */
  work_id: string | null;
  /** Should its process be gone unnoticed: until then it is waited for. */
  lease_until: number;
  created_at: number;
}

export interface CountersTable {
  name: string;
  window_start: number;
  value: number;
}

/**
 * What `q` searches, a row a conversation; written by conversation-search-*.ts alone. On SQLite an FTS5 table with the
 * same numbers stands beside it.
 */
export interface ConversationTextTable {
  /** SQLite only: the start in milliseconds times 2^20, plus a number within it. Too large for a JavaScript number. */
  position: Generated<bigint>;
  conversation_id: string;
  /** MySQL only: the messages as tokens. */
  body: Generated<string>;
  /** Of when the row was made, on SQLite: nothing reads it, and to keep it up would cost a page a message. */
  indexed_seq: number;
}

/**
 * The collections of a search engine outside, a row a workspace, while one is in use: without a row, its conversations
 * have to be written to it anew.
 */
export interface SearchCollectionsTable {
  workspace_id: string;
  /** The one that is searched; null until the first is full. */
  live: string | null;
  /** The version of the schema that it was made by. */
  live_version: number;
  /** The one that is being filled; null: none. */
  building: string | null;
  /** How many conversations have been written into `building`. */
  built: number;
  /** Number of the last write; each collection's mark holds the number of its own last write. */
  written: number;
}

/** What an adapter keeps for its account. */
export interface AccountStateTable {
  account_id: string;
  name: string;
  value: string;
  updated_at: number;
  /** When nobody needs it any more; null: it is kept for good. */
  expires_at: number | null;
}

/**
 * What leads to a conversation besides its own thread. `thread`: a thread of an account that goes on with a conversation
 * of another. `mark`: what a message is known by in the account, such as a Message-ID.
 */
export interface ConversationLinksTable {
  account_id: string;
  kind: "thread" | "mark";
  name: string;
  conversation_id: string;
}

export interface Database {
  workspaces: WorkspacesTable;
  api_keys: ApiKeysTable;
  agents: AgentsTable;
  agent_tokens: AgentTokensTable;
  contacts: ContactsTable;
  identities: IdentitiesTable;
  contact_merges: ContactMergesTable;
  accounts: AccountsTable;
  conversations: ConversationsTable;
  messages: MessagesTable;
  attachments: AttachmentsTable;
  conversation_tags: ConversationTagsTable;
  notes: NotesTable;
  audit: AuditTable;
  documents: DocumentsTable;
  document_bodies: DocumentBodiesTable;
  document_body_parts: DocumentBodyPartsTable;
  crawls: CrawlsTable;
  crawl_pages: CrawlPagesTable;
  chunks: ChunksTable;
  inbound_events: InboundEventsTable;
  outbox: OutboxTable;
  deliveries: DeliveriesTable;
  receipts: ReceiptsTable;
  webhooks: WebhooksTable;
  events: EventsTable;
  webhook_queue: WebhookQueueTable;
  webhook_attempts: WebhookAttemptsTable;
  idempotency: IdempotencyTable;
  counters: CountersTable;
  conversation_text: ConversationTextTable;
  search_collections: SearchCollectionsTable;
  account_state: AccountStateTable;
  conversation_links: ConversationLinksTable;
  knowledge_collections: KnowledgeCollectionsTable;
  knowledge_written: KnowledgeWrittenTable;
  vector_models: VectorModelsTable;
  chunk_vectors: ChunkVectorsTable;
  rule_firings: RuleFiringsTable;
  rule_turns: RuleTurnsTable;
  skill_calls: SkillCallsTable;
  connection_leases: ConnectionLeasesTable;
  processes: ProcessesTable;
  requests_in_flight: RequestsInFlightTable;
  commit_marks: CommitMarksTable;
  desk_threads: DeskThreadsTable;
  desk_posts: DeskPostsTable;
}
