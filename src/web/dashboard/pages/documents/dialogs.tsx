import { api } from "#web/dashboard/api.ts";
import { ConfirmDialog, FormDialog } from "#web/dashboard/ui/confirm-dialog.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { KnowledgeDocument, OneDocument } from "./documents.ts";
import { pathOf } from "./documents.ts";

const audienceHint = "Only customers with one of these tags get answers from it. Without a tag, everyone does.";

/** The server's limit is higher, but websites with many pages take their time. */
const removedAtOnce = 20;

/** Adds a website. */
export function WebsiteDialog(props: {
  readonly added: (document: KnowledgeDocument) => void;
  readonly closed: () => void;
}) {
  const initial = { url: "", maxPages: 50 as number | null, sitemap: "", audience: [] as readonly string[] };
  async function send({ url, maxPages, sitemap, audience }: typeof initial): Promise<void> {
    const { document } = await api.post<OneDocument>("documents/crawl", {
      url,
      audience,
      ...(maxPages !== null && { max_pages: maxPages }),
      ...(sitemap !== "" && { sitemap }),
    });
    props.added(document);
  }
  return (
    <FormDialog title="Add a website" initial={initial} send={send} label="Add website" closed={props.closed}>
      {(form) => (
        <>
          <TextField
            of={form.field("url")}
            label="Address of the first page"
            hint="Pages of the same site are read, as its robots.txt allows."
            type="url"
            placeholder="https://help.example.com/"
            required
            maxLength={2_000}
          />
          <NumberField of={form.field("maxPages")} label="Most pages to read" min={1} max={1_000} unit="pages" />
          <TextField
            of={form.field("sitemap")}
            label="Sitemap"
            hint="Needed only where the site does not name it."
            type="url"
            optional
            maxLength={2_000}
          />
          <TagsField of={form.field("audience")} label="Audience tags" hint={audienceHint} optional maxLength={64} />
        </>
      )}
    </FormDialog>
  );
}

/** Changes the title and the audience of a document. */
export function DetailsDialog(props: {
  readonly document: KnowledgeDocument;
  readonly changed: (document: KnowledgeDocument) => void;
  readonly closed: () => void;
}) {
  const { id, title, audience } = props.document;
  async function send(values: { readonly title: string; readonly audience: readonly string[] }): Promise<void> {
    props.changed((await api.patch<OneDocument>(pathOf(id), values)).document);
  }
  return (
    <FormDialog
      title="Title and audience"
      initial={{ title, audience }}
      send={send}
      label="Save"
      done="Document saved."
      closed={props.closed}
    >
      {(form) => (
        <>
          <TextField of={form.field("title")} label="Title" required maxLength={300} />
          <TagsField of={form.field("audience")} label="Audience tags" hint={audienceHint} optional maxLength={64} />
        </>
      )}
    </FormDialog>
  );
}

/** Asks before documents are removed. */
export function RemoveDialog(props: {
  readonly documents: readonly Pick<KnowledgeDocument, "id" | "title">[];
  readonly removed: () => void;
  readonly closed: () => void;
}) {
  const { documents, removed, closed } = props;
  const [first] = documents;
  const isOne = documents.length === 1 && first !== undefined;
  return (
    <ConfirmDialog
      title={isOne ? "Delete this document?" : `Delete ${documents.length} documents?`}
      confirm="Delete"
      done={isOne ? "Document deleted." : `${documents.length} documents deleted.`}
      run={async () => {
        const ids = documents.map(({ id }) => id);
        for (let at = 0; at < ids.length; at += removedAtOnce) {
          await api.post("documents/remove", { document_ids: ids.slice(at, at + removedAtOnce) });
        }
        removed();
      }}
      closed={closed}
    >
      <p>The bot stops using {isOne ? <b dir="auto">{first.title}</b> : "them"} at once. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
