import { useEffect, useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { MarkdownPreview } from "#web/dashboard/ui/markdown-preview.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import type { KnowledgeDocument, OneDocument } from "./documents.ts";
import { parseMarkdown, pathOf, readDocument } from "./documents.ts";

interface Text {
  readonly title: string;
  readonly content: string;
  readonly audience: readonly string[];
}

const nothing: Text = { title: "", content: "", audience: [] };

export const NewArticle = () => (
  <>
    <PageHead title="New article" back={{ label: "Documents", href: addressOf("documents") }} />
    <Editor
      initial={nothing}
      save={async (text) => (await api.post<OneDocument>("documents/articles", text)).document}
    />
  </>
);

/** Edits an article, or an uploaded text file. */
export function EditArticle({ id }: { readonly id: string }) {
  const resource = useResource(async () => {
    const [document, { content, version }] = await Promise.all([
      readDocument(id),
      api.get<{ readonly content: string; readonly version: string }>(`${pathOf(id)}/content`),
    ]);
    return { document, content, version };
  }, [id]);
  return (
    <>
      <PageHead
        title={resource.data === undefined ? "Edit" : `Edit ${resource.data.document.title}`}
        back={{ label: "Document", href: addressOf("documents", id) }}
      />
      <Loaded of={resource}>
        {({ document: { title, audience }, content, version }) => (
          <Editor
            initial={{ title, content, audience }}
            save={async (text) => {
              const edit = { ...text, based_on: version };
              return (await api.put<OneDocument>(`documents/articles/${encodeURIComponent(id)}`, edit)).document;
            }}
          />
        )}
      </Loaded>
    </>
  );
}

function Editor({
  initial,
  save,
}: {
  readonly initial: Text;
  readonly save: (text: Text) => Promise<KnowledgeDocument>;
}) {
  const form = useForm(initial);
  const { router, notices } = useDashboard();
  const send = async (text: Text): Promise<void> => {
    const { id } = await save(text);
    notices.show({
      kind: "done",
      text: "Saved. The bot uses it in a moment.",
      action: { label: "Try a question", href: addressOf("questions") },
    });
    router.go(addressOf("documents", id));
  };
  return (
    <div class="article-form">
      <Form form={form} send={send} label="Save">
        <TextField of={form.field("title")} label="Title" required maxLength={300} />
        <WriteAndPreview form={form} />
        <TagsField
          of={form.field("audience")}
          label="Audience tags"
          hint="Only customers with one of these tags get answers from it. Without a tag, everyone does."
          optional
          maxLength={64}
        />
      </Form>
    </div>
  );
}

/** The text and its preview: side by side, or as tabs on phones. */
function WriteAndPreview({ form }: { readonly form: FormState<Text> }) {
  const isNarrow = useNarrow();
  const [tab, setTab] = useState("write");
  const write = () => (
    <TextAreaField
      of={form.field("content")}
      label="Text"
      hint="Markdown. Headings with the words of customers help the bot to find the right passage."
      rows={16}
      required
      maxLength={200_000}
    />
  );
  const preview = () => <MarkdownPreview label="Preview" text={form.values.content} parse={parseMarkdown} />;
  if (isNarrow) {
    return (
      <Tabs
        label="Text"
        current={tab}
        choose={setTab}
        tabs={[
          { id: "write", label: "Write", render: write },
          { id: "preview", label: "Preview", render: preview },
        ]}
      />
    );
  }
  return (
    <div class="side-by-side">
      {write()}
      <div class="field">
        <span class="field-label">Preview</span>
        <p class="hint">As the text reads, without the styles of your website.</p>
        {preview()}
      </div>
    </div>
  );
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(false);
  useEffect(() => {
    const query = matchMedia("(max-width: 799px)");
    const follow = (): void => setNarrow(query.matches);
    follow();
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
