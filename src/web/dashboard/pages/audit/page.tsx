import { useId } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import type { Page } from "#web/dashboard/api.ts";
import { api, withQuery } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useQuery } from "#web/dashboard/store.ts";
import { FilterBar, FilterSearch, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged } from "#web/dashboard/ui/resource.tsx";
import type { AuditEntry } from "./entries.tsx";
import { AuditTable } from "./entries.tsx";
import { actionOptions } from "./words.ts";

export const audit: DashboardPage = {
  path: "audit",
  label: "Audit log",
  about: "What was changed, by whom and when.",
  group: "Workspace",
  icon: icons.audit,
  roles: ["admin"],
  render: () => <AuditLog />,
};

/** The beginning of a local day, some days later. */
const startOfDay = (date: string, days = 0): string | undefined => {
  const at = new Date(`${date}T00:00:00`);
  if (date === "" || Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + days);
  return at.toISOString();
};

function AuditLog() {
  const [q, setQ] = useQuery("q");
  const [action, setAction] = useQuery("action");
  const [actor, setActor] = useQuery("actor");
  const [conversation, setConversation] = useQuery("conversation");
  const [from, setFrom] = useQuery("from");
  const [to, setTo] = useQuery("to");
  const filter = {
    q,
    action,
    actor,
    conversation_id: conversation,
    from: startOfDay(from),
    to: startOfDay(to, 1),
  };
  const list = usePaged((cursor) => filledPage(filter, cursor), [q, action, actor, conversation, from, to]);
  return (
    <>
      <PageHead
        title="Audit log"
        lead="Entries stay when a conversation, an agent or a key is gone."
        actions={
          <Button
            label="Export as CSV"
            kind="secondary"
            shape={icons.download}
            onClick={() => api.download(withQuery("audit/export", filter))}
          />
        }
      />
      <FilterBar>
        <FilterSearch label="What was changed" value={q} set={setQ} />
        <FilterSearch label="Who: e-mail or id" value={actor} set={setActor} />
        <FilterSearch label="Conversation id" value={conversation} set={setConversation} />
        <FilterSelect label="Action" all="All actions" options={actionOptions} value={action} set={setAction} />
        <FilterDate label="From" value={from} set={setFrom} />
        <FilterDate label="Until" value={to} set={setTo} />
      </FilterBar>
      <Loaded of={list}>{(entries) => <AuditTable entries={entries} />}</Loaded>
      <ShowMore of={list} />
    </>
  );
}

const requestsMax = 10;

/** The server looks through many entries a request, and may find none of them. */
async function filledPage(
  filter: Readonly<Record<string, string | undefined>>,
  cursor: string | undefined,
): Promise<Page<AuditEntry>> {
  let page = await api.page<AuditEntry>("audit", "entries", { ...filter, cursor });
  for (let count = 1; page.items.length === 0 && page.next !== null && count < requestsMax; count += 1) {
    page = await api.page<AuditEntry>("audit", "entries", { ...filter, cursor: page.next });
  }
  return page;
}

function FilterDate(props: { readonly label: string; readonly value: string; readonly set: (value: string) => void }) {
  const id = useId();
  return (
    <div class="filter filter-date">
      <label for={id}>{props.label}</label>
      <input id={id} type="date" value={props.value} onChange={({ currentTarget }) => props.set(currentTarget.value)} />
    </div>
  );
}
