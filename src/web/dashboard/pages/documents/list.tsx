import { useState } from "preact/hooks";
import { Button, Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard, useQuery } from "#web/dashboard/store.ts";
import { FilterBar, FilterSearch, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import type { Paged } from "#web/dashboard/ui/resource.tsx";
import { Loaded, ShowMore, usePaged, useResource } from "#web/dashboard/ui/resource.tsx";
import { RemoveDialog, WebsiteDialog } from "./dialogs.tsx";
import type { KnowledgeDocument, OneDocument } from "./documents.ts";
import { isBusy, pathOf, readDocument } from "./documents.ts";
import { DropZone } from "./drop-zone.tsx";
import { usePolling } from "#web/dashboard/ui/polling.ts";
import { EncoderNotice } from "./encoder.tsx";
import { ManualNotice } from "./manual.tsx";
import { DocumentTable } from "./table.tsx";
import { useUploads } from "./uploads.ts";

const kinds = [
  { value: "file", label: "Files" },
  { value: "website", label: "Websites" },
  { value: "article", label: "Articles" },
];
const statuses = [
  { value: "indexed", label: "In use" },
  { value: "processing", label: "Being read" },
  { value: "pending", label: "Waiting" },
  { value: "failed", label: "Failed" },
];

/** Busy documents that are asked for at a time; the next ones follow when these are ready. */
const polledMax = 10;

export function DocumentList() {
  const { notices } = useDashboard();
  const canWrite = useCanWrite();
  const [q] = useQuery("q");
  const [kind] = useQuery("kind");
  const [status] = useQuery("status");
  const [tag] = useQuery("tag");
  const [isAddingSite, setAddingSite] = useState(false);
  const [removing, setRemoving] = useState<readonly KnowledgeDocument[]>([]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const filters = { q, kind, status, tag };
  const list = usePaged<KnowledgeDocument>(
    (cursor) => api.page("documents", "documents", { ...filters, cursor }),
    [q, kind, status, tag],
  );
  const tags = useResource(
    async () => (await api.get<{ readonly tags: readonly string[] }>("documents/tags")).tags,
    [],
  );
  const manual = useResource(
    async () => (await api.get<{ readonly document_ids: readonly string[] }>("documents/manual")).document_ids,
    [],
  );
  const { add, remove } = useChanges(list);
  const uploads = useUploads(add);
  const chosen = (list.data ?? []).filter(({ id }) => selected.has(id));
  const isFiltered = Object.values(filters).some((value) => value !== "");

  async function recrawl({ id }: KnowledgeDocument): Promise<void> {
    try {
      add((await api.post<OneDocument>(`${pathOf(id)}/recrawl`)).document);
    } catch (error) {
      notices.report(error);
    }
  }
  return (
    <>
      <PageHead
        title="Documents"
        lead="The bot answers from these files, websites and articles, and from nothing else."
        {...(canWrite && { actions: <AddActions addWebsite={() => setAddingSite(true)} /> })}
      />
      {(manual.data ?? []).length > 0 && (
        <ManualNotice
          canWrite={canWrite}
          removed={async () => {
            await manual.reload();
            await list.reload();
          }}
        />
      )}
      <EncoderNotice />
      {canWrite && <DropZone uploads={uploads} />}
      <Filters tags={tags.data ?? []} />
      {chosen.length > 0 && (
        <div class="selection-bar" role="group" aria-label="Selected documents">
          <span role="status">{chosen.length} selected</span>
          <Button label="Delete" kind="secondary" shape={icons.trash} onClick={() => setRemoving(chosen)} />
          <Button label="Clear selection" onClick={() => setSelected(new Set())} />
        </div>
      )}
      <Loaded of={list}>
        {(rows) => (
          <DocumentTable
            rows={rows}
            manual={new Set(manual.data)}
            canWrite={canWrite}
            selected={selected}
            select={setSelected}
            recrawl={(document) => void recrawl(document)}
            remove={(document) => setRemoving([document])}
            empty={<NoDocuments isFiltered={isFiltered} />}
          />
        )}
      </Loaded>
      <ShowMore of={list} />
      {isAddingSite && <WebsiteDialog added={add} closed={() => setAddingSite(false)} />}
      {removing.length > 0 && (
        <RemoveDialog
          documents={removing}
          removed={() => {
            remove(removing);
            setSelected(new Set());
          }}
          closed={() => setRemoving([])}
        />
      )}
    </>
  );
}

function Filters({ tags }: { readonly tags: readonly string[] }) {
  const [q, setQ] = useQuery("q");
  const [kind, setKind] = useQuery("kind");
  const [status, setStatus] = useQuery("status");
  const [tag, setTag] = useQuery("tag");
  return (
    <FilterBar>
      <FilterSearch label="Search documents" value={q} set={setQ} />
      <FilterSelect label="Kind" all="All kinds" options={kinds} value={kind} set={setKind} />
      <FilterSelect label="State" all="All states" options={statuses} value={status} set={setStatus} />
      {tags.length > 0 && (
        <FilterSelect
          label="Audience"
          all="All audiences"
          options={tags.map((value) => ({ value, label: value }))}
          value={tag}
          set={setTag}
        />
      )}
    </FilterBar>
  );
}

/** Puts changed documents into the list, and asks for the state of those that are being read. */
function useChanges(list: Paged<KnowledgeDocument>) {
  const rows = list.data ?? [];
  const busy = rows.filter(isBusy).slice(0, polledMax);
  const put = (fresh: readonly KnowledgeDocument[]): void => {
    const byId = new Map(fresh.map((document) => [document.id, document]));
    list.change((before) => before.map((each) => byId.get(each.id) ?? each));
  };
  usePolling(busy.length > 0, async () => {
    const settled = await Promise.allSettled(busy.map(({ id }) => readDocument(id)));
    put(settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
  });
  return {
    /** New ones come first; known ones stay where they are. */
    add: (document: KnowledgeDocument): void =>
      list.change((before) =>
        before.some(({ id }) => id === document.id)
          ? before.map((each) => (each.id === document.id ? document : each))
          : [document, ...before],
      ),
    remove: (gone: readonly KnowledgeDocument[]): void =>
      list.change((before) => before.filter(({ id }) => !gone.some((each) => each.id === id))),
  };
}

const AddActions = ({ addWebsite }: { readonly addWebsite: () => void }) => (
  <>
    <Button label="Add a website" kind="secondary" shape={icons.plus} onClick={addWebsite} />
    <a class="primary" href={addressOf("documents", "new")}>
      Write an article
    </a>
  </>
);

const NoDocuments = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty shape="search" title="No document matches">
      <p>Change the words or the filters above.</p>
    </Empty>
  ) : (
    <Empty shape={icons.documents} title="No documents yet">
      <p>Add what customers ask about: help pages, manuals, price lists, terms.</p>
    </Empty>
  );
