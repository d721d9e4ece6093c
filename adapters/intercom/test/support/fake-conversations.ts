// The conversations of the fake server and their payloads.

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface Writer extends Person {
  readonly type: "user";
  readonly externalId: string | null;
}

export interface KeptFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export interface FakePart {
  readonly type: "conversation_part";
  readonly id: string;
  readonly part_type: string;
  body: string | null;
  readonly created_at: number;
  readonly author: { readonly type: string; readonly id: string; readonly name: string; readonly email: string };
  readonly assigned_to: { readonly type: string; readonly id: string } | null;
  files: readonly KeptFile[];
  redacted: boolean;
  readonly byEmail: boolean;
  /** A fresh address for a file; addresses expire. */
  fileUrl(id: string): string;
}

export interface FakeConversation {
  readonly id: string;
  readonly created_at: number;
  updated_at: number;
  state: "open" | "closed" | "snoozed";
  snoozed_until: number | null;
  assignee: { readonly admin: string | null; readonly team: string | null };
  readonly contact: Writer;
  readonly others: Writer[];
  readonly deliveredAs: "customer_initiated" | "admin_initiated";
  readonly source: {
    readonly id: string;
    readonly author: FakePart["author"];
    body: string;
    files: readonly KeptFile[];
  };
  readonly parts: FakePart[];
  readonly fileUrl: (id: string) => string;
}

export interface Deed {
  readonly type: string;
  readonly body?: string;
  readonly until?: number;
  readonly to?: { readonly type?: "admin" | "team"; readonly id: string };
  readonly files?: readonly KeptFile[];
}

export function createConversations({
  seconds,
  fileUrl,
}: {
  seconds(): number;
  readonly fileUrl: (id: string) => string;
}) {
  const all = new Map<string, FakeConversation>();
  let ids = 269_650_473;
  const newId = (): string => String((ids += 1));
  const contactAuthor = ({ type, id, name, email }: Writer) => ({ type, id, name, email });

  function push(
    conversation: FakeConversation,
    part: Omit<FakePart, "type" | "id" | "created_at" | "redacted" | "fileUrl">,
  ): FakePart {
    const made: FakePart = {
      type: "conversation_part",
      id: newId(),
      created_at: seconds(),
      redacted: false,
      fileUrl,
      ...part,
    };
    conversation.parts.push(made);
    conversation.updated_at = seconds();
    return made;
  }

  return {
    all,
    of(id: string): FakeConversation {
      const found = all.get(id);
      if (found === undefined) throw new Error(`there is no conversation ${id}`);
      return found;
    },
    /** `by`: the teammate who wrote first. */
    begin(author: Writer, body: string, files: readonly KeptFile[], by?: Person): FakeConversation {
      const conversation: FakeConversation = {
        id: newId(),
        created_at: seconds(),
        updated_at: seconds(),
        state: "open",
        snoozed_until: null,
        assignee: { admin: null, team: null },
        contact: author,
        others: [],
        deliveredAs: by === undefined ? "customer_initiated" : "admin_initiated",
        source: {
          id: newId(),
          author: by === undefined ? contactAuthor(author) : { type: "admin", ...by },
          body,
          files,
        },
        parts: [],
        fileUrl,
      };
      all.set(conversation.id, conversation);
      return conversation;
    },
    reply(
      conversation: FakeConversation,
      author: Writer,
      body: string,
      files: readonly KeptFile[],
      byEmail: boolean,
    ): FakePart {
      if (author.id !== conversation.contact.id && !conversation.others.some(({ id }) => id === author.id)) {
        conversation.others.push(author);
      }
      // A customer's reply to a closed or snoozed conversation is itself the part that opens it.
      const type = conversation.state === "open" ? "comment" : "open";
      conversation.state = "open";
      conversation.snoozed_until = null;
      return push(conversation, {
        part_type: type,
        body,
        author: contactAuthor(author),
        assigned_to: null,
        files,
        byEmail,
      });
    },
    add(conversation: FakeConversation, who: Person, { type, body, until, to, files = [] }: Deed): FakePart {
      if (type === "close") conversation.state = "closed";
      if (type === "open" || type === "unsnoozed") conversation.state = "open";
      if (type === "snoozed") conversation.state = "snoozed";
      if (type !== "comment" && type !== "note")
        conversation.snoozed_until = type === "snoozed" ? (until ?? null) : null;
      const toType = to?.type ?? "admin";
      if (to !== undefined) conversation.assignee = { ...conversation.assignee, [toType]: to.id };
      return push(conversation, {
        part_type: type,
        body: body ?? null,
        author: { type: "admin", id: who.id, name: who.name, email: who.email },
        assigned_to: to === undefined ? null : { type: toType, id: to.id },
        files,
        byEmail: false,
      });
    },
    redact(conversation: FakeConversation, part: FakePart): void {
      part.body = null;
      part.files = [];
      part.redacted = true;
      conversation.updated_at = seconds();
    },
  };
}

/** The payload of a conversation in API and notifications, with these parts. */
export function payloadOf(conversation: FakeConversation, parts: readonly FakePart[]) {
  const { contact, others, source, state, fileUrl } = conversation;
  return {
    type: "conversation",
    id: conversation.id,
    title: null,
    created_at: conversation.created_at,
    updated_at: conversation.updated_at,
    waiting_since: null,
    snoozed_until: conversation.snoozed_until,
    open: state !== "closed",
    state,
    read: false,
    priority: "not_priority",
    admin_assignee_id: conversation.assignee.admin === null ? null : Number(conversation.assignee.admin),
    team_assignee_id: conversation.assignee.team === null ? null : Number(conversation.assignee.team),
    source: {
      type: "conversation",
      id: source.id,
      delivered_as: conversation.deliveredAs,
      subject: "",
      body: source.body,
      author: source.author,
      attachments: source.files.map((file) => attachment(file, fileUrl)),
      url: null,
      redacted: false,
    },
    contacts: {
      type: "contact.list",
      contacts: [contact, ...others].map(({ id, externalId }) => ({ type: "contact", id, external_id: externalId })),
    },
    teammates: {
      type: "admin.list",
      teammates: [
        ...new Set(conversation.parts.filter(({ author }) => author.type === "admin").map((p) => p.author.id)),
      ].map((id) => ({ type: "admin", id })),
    },
    conversation_parts: {
      type: "conversation_part.list",
      conversation_parts: parts.map((part) => ({
        type: part.type,
        id: part.id,
        part_type: part.part_type,
        body: part.body,
        created_at: part.created_at,
        updated_at: part.created_at,
        notified_at: part.created_at,
        assigned_to: part.assigned_to,
        author: part.author,
        attachments: part.files.map((file) => attachment(file, part.fileUrl)),
        external_id: null,
        redacted: part.redacted,
        email_message_metadata: part.byEmail ? { subject: "Re: Question", email_address_headers: [] } : null,
        state,
        tags: [],
        event_details: {},
        app_package_code: null,
      })),
      total_count: parts.length,
    },
  };
}

function attachment({ id, name, mediaType, bytes }: KeptFile, fileUrl: (id: string) => string) {
  return { type: "upload", name, url: fileUrl(id), content_type: mediaType, filesize: bytes };
}

/** The messenger's HTML for typed text. */
export function htmlOf(text: string): string {
  const escaped = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
  return escaped
    .split("\n\n")
    .map((paragraph) => `<p>${paragraph.replaceAll("\n", "<br>")}</p>`)
    .join("\n");
}

/** Rewrites HTML as Intercom does: the text stays the same. */
export function asIntercomWrites(html: string): string {
  return html
    .replaceAll("<p>", '<p class="no-margin">')
    .replaceAll(/<a href="([^"]*)">/g, '<a href="$1" rel="nofollow noopener noreferrer" target="_blank">')
    .replaceAll("<em>", "<i>")
    .replaceAll("</em>", "</i>")
    .replaceAll("<strong>", "<b>")
    .replaceAll("</strong>", "</b>");
}
