import { useRef, useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { FilterBar, FilterSearch } from "#web/dashboard/ui/filters.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { useResource } from "#web/dashboard/ui/resource.tsx";
import { useDashboard } from "#web/dashboard/store.ts";
import type { Outcome } from "./tried-answer.tsx";
import { TriedAnswer, isAnswered, tryAnswer, tryQuestions } from "./tried-answer.tsx";
import type { DocumentItem, OneDocument, Question } from "./types.ts";

interface Article {
  readonly document: string;
  readonly title: string;
  readonly content: string;
}

const contentOf = (id: string) =>
  api.get<{ readonly content: string; readonly version: string }>(`documents/${id}/content`);

/** Writes or extends an article, and shows how the bot answers now. A question that it answers is marked as answered. */
export function WriteAnswer(props: {
  readonly question: string;
  /** Others of the group. */
  readonly similar: readonly string[];
  /** Path of the question in the API. */
  readonly path: string;
  readonly isOpen: boolean;
  readonly answered: () => Promise<void>;
}) {
  const { question, similar, path, isOpen, answered } = props;
  const form = useForm<Article>({ document: "", title: question.slice(0, 200), content: "" });
  const [basedOn, setBasedOn] = useState<string>();
  /** The new article that was saved here. The next save changes it. */
  const [written, setWritten] = useState<string>();
  const [outcome, setOutcome] = useState<Outcome>();
  const [q, search] = useState("");
  const { notices } = useDashboard();
  const savesCount = useRef(0);
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
    setWritten(undefined);
    if (chosen === undefined) {
      setBasedOn(undefined);
      form.setValues({ document: "", title: question.slice(0, 200), content: "" });
      return;
    }
    const { content, version } = await contentOf(id);
    setBasedOn(version);
    form.setValues({ document: id, title: chosen.title, content: `${content.trimEnd()}\n\n## ${question}\n\n` });
  }

  async function save({ document, title, content }: Article): Promise<void> {
    const target = document === "" ? written : document;
    const { document: saved } = await (target === undefined
      ? api.post<OneDocument>("documents/articles", { title, content })
      : api.put<OneDocument>(`documents/articles/${target}`, { title, content, based_on: basedOn }));
    if (document === "") setWritten(saved.id);
    setBasedOn(saved.content_version);
    savesCount.current += 1;
    void showAnswers(saved, savesCount.current);
  }

  /** `count`: the number of the save. The outcome of an earlier one is not shown. */
  async function showAnswers(saved: DocumentItem, count: number): Promise<void> {
    const show = (next: Outcome): void => {
      if (savesCount.current === count) setOutcome(next);
    };
    show({ kind: "indexing" });
    const tried = await tryAnswer(saved.id, question).catch((): Outcome => ({ kind: "unknown" }));
    show(tried);
    if (tried.kind !== "tried") return;
    if (isAnswered(tried.first) && savesCount.current === count) await markAnswered(saved.id);
    const others = await tryQuestions(similar.filter((each) => each !== question));
    show({ ...tried, others });
  }

  async function markAnswered(documentId: string): Promise<void> {
    try {
      // A colleague, or this administrator, may have ignored it meanwhile.
      const { state } = await api.get<Question>(path);
      if (state === "open") await api.post(`${path}/done`, { document_id: documentId });
      await answered();
    } catch (error) {
      notices.report(error);
    }
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
          none={written === undefined ? "A new article" : "The new article"}
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
      <div aria-live="polite">{outcome !== undefined && <TriedAnswer of={outcome} isOpen={isOpen} />}</div>
    </>
  );
}
