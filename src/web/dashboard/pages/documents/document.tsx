import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { Link } from "#web/shared/ui/content.tsx";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard, useQuery } from "#web/dashboard/store.ts";
import { icons } from "#web/dashboard/ui/icons.ts";
import { RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { Card, PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import { DetailsDialog, RemoveDialog } from "./dialogs.tsx";
import type { KnowledgeDocument, OneDocument } from "./documents.ts";
import { isBusy, kindNames, pathOf, readDocument } from "./documents.ts";
import { PassageList } from "./passages.tsx";
import { usePolling } from "#web/dashboard/ui/polling.ts";
import { Audience, DocumentState } from "./state.tsx";
import { WebsitePages } from "./website-pages.tsx";

const back = { label: "Documents", href: addressOf("documents") };

export function DocumentPage({ id }: { readonly id: string }) {
  const resource = useResource(() => readDocument(id), [id]);
  const document = resource.data;
  usePolling(document !== undefined && isBusy(document), async () => resource.set(await readDocument(id)));
  return (
    <>
      <PageHead
        title={document?.title ?? "Document"}
        back={back}
        {...(document !== undefined && { actions: <Actions document={document} changed={resource.set} /> })}
      />
      <Loaded of={resource}>
        {(shown) => (
          <div class="document-parts">
            <Facts of={shown} />
            <Contents of={shown} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Actions(props: {
  readonly document: KnowledgeDocument;
  readonly changed: (document: KnowledgeDocument) => void;
}) {
  const { document, changed } = props;
  const { id, kind, editable } = document;
  const { notices, router } = useDashboard();
  const canWrite = useCanWrite();
  const [dialog, setDialog] = useState<"details" | "remove">();
  const closed = (): void => setDialog(undefined);
  async function recrawl(): Promise<void> {
    try {
      changed((await api.post<OneDocument>(`${pathOf(id)}/recrawl`)).document);
    } catch (error) {
      notices.report(error);
    }
  }
  if (!canWrite) return null;
  return (
    <>
      <a class="secondary" href={addressOf("questions")}>
        Try a question
      </a>
      {kind === "website" && (
        <Button label="Read again" kind="secondary" shape={icons.reload} onClick={() => void recrawl()} />
      )}
      <Button label="Title and audience" kind="secondary" onClick={() => setDialog("details")} />
      <Button label="Delete" kind="secondary" shape={icons.trash} onClick={() => setDialog("remove")} />
      {editable && (
        <a class="primary" href={`${addressOf("documents", id)}?edit=1`}>
          Edit
        </a>
      )}
      {dialog === "details" && <DetailsDialog document={document} changed={changed} closed={closed} />}
      {dialog === "remove" && (
        <RemoveDialog documents={[document]} removed={() => router.go(addressOf("documents"))} closed={closed} />
      )}
    </>
  );
}

function Facts({ of: document }: { readonly of: KnowledgeDocument }) {
  const { kind, url, file_name: fileName, audience, chunks, pages, indexed_at: indexedAt } = document;
  return (
    <Card>
      <DocumentState of={document} />
      <dl class="facts">
        <Fact name="Kind">{kindNames[kind]}</Fact>
        {url !== null && (
          <Fact name="Address">
            <Link href={url}>{url}</Link>
          </Fact>
        )}
        {fileName !== null && (
          <Fact name="File">
            <span dir="auto">{fileName}</span>
          </Fact>
        )}
        <Fact name="Audience">
          <Audience tags={audience} />
        </Fact>
        {kind === "website" && <Fact name="Pages in use">{pages}</Fact>}
        <Fact name="Passages">{chunks}</Fact>
        <Fact name="Updated">
          <RelativeTime at={indexedAt} none="not yet" />
        </Fact>
      </dl>
    </Card>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Passages, and for a website its pages. They are loaded again when a new version is in use. */
function Contents({ of: document }: { readonly of: KnowledgeDocument }) {
  const { id, kind, status, indexed_at: indexedAt } = document;
  const version = `${status} ${indexedAt}`;
  const [tab, setTab] = useQuery("tab");
  const passages = <PassageList key={version} id={id} />;
  if (kind !== "website") return passages;
  return (
    <Tabs
      label="Contents"
      current={tab}
      choose={setTab}
      tabs={[
        { id: "passages", label: "Passages", render: () => passages },
        { id: "pages", label: "Pages", render: () => <WebsitePages key={version} id={id} /> },
      ]}
    />
  );
}
