import type { AuditAction } from "#domain/conversation/message.ts";
import type { AdminAction } from "#domain/workspace/admin-action.ts";
import { Empty } from "#web/shared/ui/elements.tsx";
import { dateAndTime } from "#web/shared/ui/time.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { actionWords, hasReason } from "./words.ts";

/** An entry of `GET /admin/v1/audit`. */
export interface AuditEntry {
  readonly id: string;
  readonly conversation_id: string | null;
  readonly action: AuditAction | AdminAction;
  readonly actor: { readonly type: string; readonly id: string | null; readonly name: string | null };
  readonly from: string | null;
  readonly to: string | null;
  readonly detail: string | null;
  readonly created_at: string;
}

const actorTypes: Readonly<Record<string, string>> = {
  customer: "Customer",
  assistant: "Assistant",
  api_key: "API key",
  system: "Parley",
};

const actorOf = ({ actor: { type, id, name } }: AuditEntry): string => {
  if (type === "agent") return name ?? id ?? "Agent";
  const kind = actorTypes[type] ?? type;
  const which = name ?? (type === "customer" ? null : id);
  return which === null || which === kind ? kind : `${kind} (${which})`;
};

/** Entries of the audit log, with links to the conversations in the inbox. */
export const AuditTable = ({ entries }: { readonly entries: readonly AuditEntry[] }) => (
  <DataTable
    caption="Audit log"
    rows={entries}
    rowKey={({ id }) => id}
    empty={
      <Empty shape={icons.audit} title="No entries">
        <p>Nothing that happened matches these filters.</p>
      </Empty>
    }
    columns={[
      {
        header: "When",
        cell: ({ created_at: at }) => <time dateTime={at}>{dateAndTime(Date.parse(at))}</time>,
      },
      { header: "Who", cell: (entry) => <span dir="auto">{actorOf(entry)}</span> },
      { header: "What", cell: (entry) => <Change of={entry} /> },
      {
        header: "Conversation",
        cell: ({ conversation_id: id }) => id !== null && <a href={`/inbox#/all/${id}`}>Open</a>,
      },
    ]}
  />
);

/** A rating is no change: it is of an agent's work. */
function changeOf(action: AuditEntry["action"], from: string | null, to: string | null): string | null {
  if (action === "rated") return from === null ? `${to} of 5` : `${to} of 5, after ${from} had it`;
  return from === null ? to : `${from} → ${to ?? "none"}`;
}

const Change = ({ of: { action, detail, from, to } }: { readonly of: AuditEntry }) => (
  <span>
    {actionWords(action)} {detail !== null && !hasReason(action) && <b dir="auto">{detail}</b>}
    {(from !== null || to !== null) && (
      <small class="soft" dir="auto">
        {" "}
        {changeOf(action, from, to)}
      </small>
    )}
    {detail !== null && hasReason(action) && <span dir="auto"> ({detail})</span>}
  </span>
);
