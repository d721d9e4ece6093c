import type { PictureType } from "#domain/pictures.ts";
import type { Generated } from "kysely";
import type { Status } from "#domain/conversation/status.ts";
import type { AdminAction } from "#domain/workspace/admin-action.ts";
import type { AuditAction, Channel, Confidence, MessageKind, Role } from "#domain/conversation/message.ts";
import type { Priority, SlaState } from "#domain/conversation/sla.ts";
import type { AgentRole } from "#domain/workspace/agent-role.ts";
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
import type { TeamMembersTable, TeamsTable } from "./team.ts";
import type { AgentIdentitiesTable, RecoveryCodesTable, SignInMethod, SignInSettingsTable } from "./sign-in.ts";
import type { DeskPostsTable, DeskThreadsTable } from "./desk.ts";
import type { RuleFiringsTable, RuleTurnsTable, SkillCallsTable } from "./automation.ts";
import type { ReportChangesTable, ReportCountsTable } from "./reports.ts";
import type {
  AnswerFeedbackTable,
  QuestionGroupsTable,
  RatingsTable,
  ReactionsTable,
  SurveysTable,
  WeakAnswersTable,
} from "./feedback.ts";
import type { WebhooksTable, EventsTable, WebhookQueueTable, WebhookAttemptsTable } from "./webhooks.ts";

// Times are epoch milliseconds, booleans 0 or 1, JSON is text, since both databases store these alike.

export type Flag = 0 | 1;

export interface WorkspacesTable {
  id: string;
  name: string;
  plan: Plan;
  /** Encrypted with the installation's secret. */
  identity_secret: string;
  /** JSON: Partial<WorkspaceSettings>. */
  settings: string;
  /** Increases whenever a document's indexed version changes; embedded indexes refresh by it. */
  knowledge_version: number;
  created_at: number;
  deleted_at: number | null;
  /** SHA-256 of the workspace's name in the configuration file; null: created otherwise, or deleted. */
  declared_as: Generated<string | null>;
  /**
   * JSON: names of the settings that the configuration file declares, which nothing else may change; null: not read by
   * this version yet.
   */
  declared_settings: Generated<string | null>;
  /** When an administrator dismissed the first steps from the dashboard's overview. */
  first_steps_dismissed_at: Generated<number | null>;
}

export interface ApiKeysTable {
  id: string;
  workspace_id: string;
  name: string;
  /** SHA-256 of the whole key, hex. */
  hash: string;
  /** The key's last four characters, shown to distinguish keys. */
  hint: string;
  limit_minute: number | null;
  limit_day: number | null;
  expires_at: number | null;
  revoked_at: number | null;
  /** To the minute. */
  last_used_at: Generated<number | null>;
  /**
   * SHA-256 of the secret of an OAuth client, hex; null: an API key. A client is a key whose own text is not known, so
   * that limits, stored responses and retention are the same.
   */
  client_secret: Generated<string | null>;
  created_at: number;
}

/** Tokens that were issued to OAuth clients. */
export interface OAuthTokensTable {
  /** SHA-256 of the token, hex. */
  hash: string;
  key_id: string;
  expires_at: number;
  created_at: number;
}

export interface AgentsTable {
  id: string;
  workspace_id: string;
  /** Lower case. */
  email: string;
  name: string;
  role: AgentRole;
  /** scrypt, `salt:hash` in base64; null: signs in by link only. */
  password: string | null;
  /** Away: rules do not assign conversations to this agent. */
  away: Generated<Flag>;
  /** The TOTP secret, encrypted; null: the password alone signs in. */
  second_factor: Generated<string | null>;
  /** The time step of the last accepted code. It and earlier ones are refused. */
  second_factor_step: Generated<number | null>;
  /** File id of the picture that customers see; null: none. */
  avatar: Generated<string | null>;
  avatar_type: Generated<PictureType | null>;
  /** The order of waiting conversations in the inbox. */
  waiting_order: Generated<"urgency" | "latest">;
  /** End of the invitation that the agent has not accepted yet; null: they have joined. */
  invited_until: Generated<number | null>;
  /** To the minute; null: never signed in. */
  last_seen_at: Generated<number | null>;
  created_at: number;
}

export interface AgentTokensTable {
  /** SHA-256 of the token, hex. */
  hash: string;
  agent_id: string;
  /** `choice`: of a workspace, after the password. `code_page`: the page that asks for the second factor. */
  kind: "login_link" | "invitation" | "session" | "choice" | "code_page" | "password_reset" | "password_link";
  /** Sessions: how it began; null: in an earlier version. */
  method: Generated<SignInMethod | null>;
  expires_at: number;
  used_at: number | null;
  created_at: number;
  /** Sessions: the browser's own description of itself. */
  user_agent: Generated<string | null>;
  /** Sessions: the address of the browser, or its network. */
  network: Generated<string | null>;
  /** Sessions: to the minute. */
  last_seen_at: Generated<number | null>;
}

/** Tokens by which an admin's programs call `/admin/v1`. */
export interface AccessTokensTable {
  id: string;
  /** The admin who made it. It ends with the account, and has the account's role. */
  agent_id: string;
  workspace_id: string;
  name: string;
  /** SHA-256 of the token, hex. */
  hash: string;
  /** The last four characters, shown to distinguish tokens. */
  hint: string;
  scope: "read" | "write";
  expires_at: number | null;
  /** To the minute. */
  last_used_at: number | null;
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
  /** JSON: the source of name, email and phone; null: unverified. */
  provenance: string | null;
  /** The contact into which this one was merged; null for most. */
  merged_into: string | null;
  /** The last contact of the chain of merges, which represents the customer; often the contact itself. */
  root_id: string;
  /** The payload of the link that led the customer to the bot, until their next message takes it over. */
  pending_start: string | null;
  created_at: number;
  updated_at: number;
}

/** Keys of contacts, which every change of name, address or number stores: `contactKeys`. */
interface ContactKeysTable {
  email_key: Generated<string | null>;
  phone_key: Generated<string | null>;
  name_key: Generated<string | null>;
}

/** A merge of two contacts of one customer, with the data to undo it. */
export interface ContactMergesTable {
  id: string;
  workspace_id: string;
  from_contact_id: string;
  into_contact_id: string;
  /** The reason: `user_id`, `email`, `phone`, or `operator`. */
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
  /**
   * `widget`, `telegram` … for a platform's own id; `user_id`, `email`, `phone` for identifiers shared by platforms.
   */
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
  /** Encrypted JSON; null for an account without secrets. */
  credentials: string | null;
  /** `builtin`, `file` (provisioned by the configuration file, read-only elsewhere) or `dashboard`. */
  managed_by: "builtin" | "file" | "dashboard";
  enabled: Flag;
  created_at: number;
  /** Rises with each change, so that every process notices it. */
  revision: Generated<number>;
  /** Nothing is received, and messages wait until the account is resumed. */
  paused: Generated<Flag>;
  /** The account was removed in the dashboard. Its row stays, because its conversations do. */
  removed_at: Generated<number | null>;
  /** A hash of what only one account may use, such as a bot. Null: of the file, or removed. */
  identity: Generated<string | null>;
}

/** How an account does, as the processes that use it last stored it. Written once in a while, not per message. */
export interface AccountStatusTable {
  account_id: string;
  /** The account's revision that `state` is about. */
  revision: number | null;
  /** `unusable`: its adapter could not be created. Null: the account has no connection. */
  state: "running" | "broken" | "unusable" | null;
  state_at: number | null;
  /** The last failure, in words for the administrator. */
  error: string | null;
  error_at: number | null;
  last_event_at: number | null;
}

/** The last installation of a channel's app that an administrator has begun. Deleted when the account is connected. */
export interface ChannelInstallsTable {
  agent_id: string;
  channel: Channel;
  /** The account that is installed again; null: a new one. */
  account_id: string | null;
  /** Settings of the app, as in {@link AccountsTable}. Empty for an account that has its own. */
  config: string;
  credentials: string | null;
  /** SHA-256 of the state that the platform sends back. Null: it was used. */
  state_hash: string | null;
  /** SHA-256 of the session in which the installation began. */
  session_hash: string;
  /** When the state expires. The settings are kept for a day more, for another try. */
  expires_at: number;
}

export interface ConversationsTable {
  id: string;
  workspace_id: string;
  account_id: string;
  channel: Channel;
  /** The platform's own thread. Each has one conversation, until that is deleted. */
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
  /** The newest customer message, and the newest one that has its automated reply or needs none. */
  last_customer_seq: number;
  settled_seq: number;
  /** Consecutive answers of confidence `low`. */
  low_streak: number;
  sla_state: SlaState;
  sla_elapsed_ms: number;
  sla_running_since: number | null;
  /** The SLA's events of this clock, such as "at_risk:60 breached:60", with their target in minutes; null: none. */
  sla_notices: string | null;
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
  /** The contact before merges; null if it is `contact_id`. */
  own_contact_id: string | null;
  /** When the status last changed. */
  status_at: Generated<number>;
  /** Time-based rules that were due before this time have been checked. */
  rules_until: Generated<number>;
  /** Number of changes by people; changes by rules and timers do not count. */
  activity: Generated<number>;
  /** The reason why no reply reaches the customer, in words for agents; null: replies reach the customer. */
  unreachable: string | null;
  /** The account by which the customer wrote last, if not the conversation's own. Answers are sent by it too. */
  via_account_id: string | null;
  /** When the customer last wrote by the conversation's own account; null: never, or before this was kept. */
  customer_wrote_at: number | null;
  /** The largest platform order among the status changes received from the platform; null: none. */
  platform_order: string | null;
  /** When it was started or last reopened; null: the reports do not count it yet. */
  opened_at: Generated<number | null>;
  /** The last resolve since it was opened, as the reports have counted it: a JSON object of `domain/reporting/tally.ts`. */
  resolution: Generated<string | null>;
  /** When it was handed over to people who have not replied yet; null: nobody waits for people. */
  awaited_since: Generated<number | null>;
  /** The bot or an agent has replied. */
  replied: Generated<Flag>;
  /** Since it was opened, the bot has replied. */
  bot_replied: Generated<Flag>;
  /** Since it was opened, it was handed over, or an agent wrote or claimed it. */
  people_involved: Generated<Flag>;
  /** Incremented by every change of this row, for compare-and-set. */
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
  /** The sender's own id: the platform's message id, or the widget's client id. */
  external_id: string | null;
  /** Assistant messages: the customer message that this one answers. */
  answers_seq: number | null;
  confidence: Confidence | null;
  /** JSON array of Source. */
  sources: string | null;
  /** JSON array of skill names. */
  skills: string | null;
  tokens_used: number | null;
  metadata: string | null;
  /** JSON of a StoredReference; null: none. */
  refers_to: string | null;
  /** Messages of customers: JSON of a StoredForward; null: their own words. */
  forwarded: string | null;
  /** Assistant messages: JSON array of the audience tags used for the answer; null: none. */
  audience: string | null;
  /** Number of attachments; null: none. */
  files: number | null;
  created_at: number;
  edited_at: number | null;
  deleted_at: number | null;
  /** When its reactions last changed; null: it never had any. */
  reacted_at: number | null;
  /** Null: an ordinary message, or one of an earlier version. */
  kind: MessageKind | null;
}

export type AttachmentState = "pending" | "stored" | "failed";

/** A file of a message, or an upload for a later message. Its bytes are stored under workspace and id. */
export interface AttachmentsTable {
  id: string;
  workspace_id: string;
  account_id: string;
  /** Null: uploaded by a customer who has not sent the message yet. */
  conversation_id: string | null;
  /** Null: uploaded, not sent yet. */
  message_id: string | null;
  position: number;
  name: string;
  /** The sender's value until the file is stored, then the type detected from the bytes. */
  media_type: string;
  bytes: number | null;
  state: AttachmentState;
  /** The reason of a failure, in words for agents. */
  reason: string | null;
  /** The platform's reference to the file, encrypted; null once no retry needs it. */
  ref: string | null;
  sha256: string | null;
  /** The uploader: an agent's address, or a customer's thread. Null for files from a platform. */
  uploaded_by: string | null;
  /** Hash of the platform's group id of several events that form one message. */
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

/** Has no foreign key, since entries remain after their conversation is deleted. */
export interface AuditTable {
  id: string;
  workspace_id: string;
  conversation_id: string | null;
  action: AuditAction | AdminAction;
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
  /** Edits and deletions: the platform's id of the changed message. Parts of a stored message: their own id. */
  target_external_id: string | null;
  conversation_id: string | null;
  message_id: string | null;
  received_at: number;
}

export interface OutboxTable {
  id: Generated<number>;
  /** Rows of one lane run one after another, in the order of their ids. */
  lane: string;
  kind: string;
  /** JSON. */
  payload: string;
  due_at: number;
  attempts: number;
  lease_id: string | null;
  lease_until: number | null;
  /** Set when the work was abandoned. The row stays visible and can be replayed. */
  dead_at: number | null;
  last_error: string | null;
  created_at: number;
}

export type DeliveryState = "queued" | "sending" | "sent" | "delivered" | "read" | "failed" | "unknown";

/** One platform call, which sends one part of a message. */
export interface DeliveriesTable {
  id: string;
  account_id: string;
  conversation_id: string;
  message_id: string;
  part: number;
  /** JSON of the part as the adapter rendered it. */
  payload: string;
  state: DeliveryState;
  /** The platform's id of the sent part. */
  external_id: string | null;
  attempts: number;
  error: string | null;
  started_at: number | null;
  settled_at: number | null;
  /** The thread in the account; null: the conversation's own thread. */
  thread: string | null;
  /** Another part of the same message. This part is not sent once the customer has seen that one. */
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
  /** The process that answers the request; null: none, and the next request takes it over. */
  process_id: string | null;
  /** Identifies the stored result of the work, so that a process which takes over finds it. */
  work_id: string | null;
  /** Limits the wait for a process that ended unnoticed. */
  lease_until: number;
  created_at: number;
}

export interface CountersTable {
  name: string;
  window_start: number;
  value: number;
}

/**
 * The searchable text of conversations, one row each; written only by the search code. On SQLite an FTS5 table has rows
 * with the same numbers.
 */
export interface ConversationTextTable {
  /** SQLite only: the start in milliseconds times 2^20, plus a number within it. Too large for a JavaScript number. */
  position: Generated<bigint>;
  conversation_id: string;
  /** MySQL only: the messages as tokens. */
  body: Generated<string>;
  /** SQLite: the value from the row's creation. Nothing reads it, and updating it would cost a page per message. */
  indexed_seq: number;
}

/** The Typesense collections of each workspace. A workspace without a row has to be written again. */
export interface SearchCollectionsTable {
  workspace_id: string;
  /** The searched collection; null until the first one is complete. */
  live: string | null;
  /** The schema version of the live collection. */
  live_version: number;
  /** The collection that is being filled; null: none. */
  building: string | null;
  /** Number of conversations written to `building`. */
  built: number;
  /** Number of the last write; each collection's mark holds the number of its own last write. */
  written: number;
}

/** State that an adapter stores for its account. */
export interface AccountStateTable {
  account_id: string;
  name: string;
  value: string;
  updated_at: number;
  /** Expiry; null: never. */
  expires_at: number | null;
}

/**
 * Further links to a conversation besides its own thread. `thread`: a thread of an account that continues a
 * conversation of another account. `mark`: a reference to a message in the account, such as a Message-ID.
 */
export interface ConversationLinksTable {
  account_id: string;
  kind: "thread" | "mark";
  name: string;
  conversation_id: string;
}

/** Messages that an account has skipped on purpose. */
export interface SkippedMessagesTable {
  account_id: string;
  external_id: string;
  received_at: number;
  /** An e-mail address in lower case; null: unknown. */
  sender: string | null;
  title: string;
  /** A sentence for agents. */
  reason: string;
}

export interface Database {
  workspaces: WorkspacesTable;
  api_keys: ApiKeysTable;
  agents: AgentsTable;
  agent_tokens: AgentTokensTable;
  recovery_codes: RecoveryCodesTable;
  sign_in_settings: SignInSettingsTable;
  agent_identities: AgentIdentitiesTable;
  teams: TeamsTable;
  team_members: TeamMembersTable;
  contacts: ContactsTable & ContactKeysTable;
  identities: IdentitiesTable;
  contact_merges: ContactMergesTable;
  accounts: AccountsTable;
  conversations: ConversationsTable;
  messages: MessagesTable;
  attachments: AttachmentsTable;
  conversation_tags: ConversationTagsTable;
  notes: NotesTable;
  access_tokens: AccessTokensTable;
  oauth_tokens: OAuthTokensTable;
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
  account_status: AccountStatusTable;
  skipped_messages: SkippedMessagesTable;
  channel_installs: ChannelInstallsTable;
  processes: ProcessesTable;
  requests_in_flight: RequestsInFlightTable;
  commit_marks: CommitMarksTable;
  desk_threads: DeskThreadsTable;
  desk_posts: DeskPostsTable;
  report_counts: ReportCountsTable;
  report_changes: ReportChangesTable;
  answer_feedback: AnswerFeedbackTable;
  reactions: ReactionsTable;
  weak_answers: WeakAnswersTable;
  question_groups: QuestionGroupsTable;
  surveys: SurveysTable;
  ratings: RatingsTable;
}
