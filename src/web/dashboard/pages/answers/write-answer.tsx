import { useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { FilterBar, FilterSearch } from "#web/dashboard/ui/filters.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import { useResource } from "#web/dashboard/ui/resource.tsx";

interface DocumentItem {
  readonly id: string;
  readonly title: string;
  readonly status: "pending" | "processing" | "indexed" | "failed";
  readonly error: string | null;
  readonly editable: boolean;
}

interface OneDocument {
  readonly document: DocumentItem;
}

interface Article {
  readonly document: string;
  readonly title: string;
  readonly content: string;
}

/** A page waits this long for the article to be indexed. */
const indexTriesMax = 60;
const indexWaitMs = 1_000;

/** Writes or extends an article, marks the question as answered, and shows how the bot answers it now. */
export function WriteAnswer(props: {
  readonly question: string;
  /** Path of the question in the API. */
  readonly path: string;
  readonly answered: () => Promise<void>;
}) {
  const { question, path, answered } = props;
  const form = useForm<Article>({ document: "", title: question.slice(0, 200), content: "" });
  const [basedOn, setBasedOn] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [q, search] = useState("");
  const [extended, setExtended] = useState<DocumentItem>();
  const found = useResource(() => api.page<DocumentItem>("documents", "documents", { q, limit: 100 }), [q]);
  // The chosen article stays a choice when the words of the search change.
  const articles = [
    ...(extended === undefined ? [] : [extended]),
    ...(found.data?.items ?? []).filter(({ id, editable }) => editable && id !== extended?.id),
  ];

  async function choose(id: string): Promise<void> {
    const chosen = articles.find((each) => each.id === id);
    setExtended(chosen);
    if (chosen === undefined) {
      setBasedOn(undefined);
      form.setValues({ document: "", title: question.slice(0, 200), content: "" });
      return;
    }
    const { content, version } = await api.get<{ readonly content: string; readonly version: string }>(
      `documents/${id}/content`,
    );
    setBasedOn(version);
    form.setValues({ document: id, title: chosen.title, content: `${content.trimEnd()}\n\n## ${question}\n\n` });
  }

  async function save({ document, title, content }: Article): Promise<void> {
    const { document: saved } = await (document === ""
      ? api.post<OneDocument>("documents/articles", { title, content })
      : api.put<OneDocument>(`documents/articles/${document}`, { title, content, based_on: basedOn }));
    await api.post(`${path}/done`, { document_id: saved.id });
    setOutcome({ kind: "indexing" });
    void answered();
    void tryAnswer(saved.id, question).then(setOutcome, () => setOutcome({ kind: "unknown" }));
  }
  return (
    <>
      <FilterBar>
        <FilterSearch label="Search an article to extend" value={q} set={search} />
      </FilterBar>
      <Form form={form} send={save} label="Save and try" done="Article saved.">
        <SelectField
          of={{ ...form.field("document"), set: (id) => void choose(id) }}
          label="Article"
          none="A new article"
          options={articles.map(({ id, title }) => ({ value: id, label: `Extend: ${title}` }))}
        />
        <TextField of={form.field("title")} label="Title" required maxLength={200} />
        <TextAreaField
          of={form.field("content")}
          label="Text"
          hint="Markdown. Write it for the customer; the bot answers in these sentences."
          rows={8}
          required
          maxLength={200_000}
        />
      </Form>
      <div aria-live="polite">{outcome !== undefined && <TriedAnswer of={outcome} />}</div>
    </>
  );
}

type Outcome =
  | { readonly kind: "indexing" | "unknown" }
  | { readonly kind: "failed"; readonly error: string }
  | {
      readonly kind: "tried";
      readonly replies: readonly string[];
      readonly confidence: string | null;
      readonly why: string;
    };

async function tryAnswer(documentId: string, question: string): Promise<Outcome> {
  for (let tries = 0; tries < indexTriesMax; tries += 1) {
    const { status, error } = (await api.get<OneDocument>(`documents/${documentId}`)).document;
    if (status === "failed") return { kind: "failed", error: error ?? "" };
    if (status === "indexed") {
      const { replies, confidence, decision } = await api.post<{
        readonly replies: readonly string[];
        readonly confidence: string | null;
        readonly decision: { readonly text: string };
      }>("questions/try", { question: question.slice(0, 4_000) });
      return { kind: "tried", replies, confidence, why: decision.text };
    }
    await new Promise((resolve) => setTimeout(resolve, indexWaitMs));
  }
  return { kind: "unknown" };
}

function TriedAnswer({ of: outcome }: { readonly of: Outcome }) {
  switch (outcome.kind) {
    case "indexing":
      return <Callout tone="wait">The article is being indexed…</Callout>;
    case "unknown":
      return <Callout tone="wait">The article is saved. Its answer could not be tried yet.</Callout>;
    case "failed":
      return <Callout tone="bad">The article could not be indexed: {outcome.error}</Callout>;
    case "tried":
      return (
        <Callout tone={outcome.confidence === "low" || outcome.confidence === null ? "wait" : "good"}>
          <p>
            <b>The bot answers now{outcome.confidence !== null && `, with ${outcome.confidence} confidence`}:</b>
          </p>
          {outcome.replies.map((reply, at) => (
            <p key={at} dir="auto" class="tried-reply">
              {reply}
            </p>
          ))}
          <p class="soft">{outcome.why}</p>
        </Callout>
      );
  }
}
