import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import { SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { FilterBar, FilterSearch } from "#web/dashboard/ui/filters.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { useResource } from "#web/dashboard/ui/resource.tsx";
import { useDashboard } from "#web/dashboard/store.ts";
import type { Outcome } from "./tried-answer.tsx";
import { TriedAnswer, isAnswered, isAnsweredBy, tryAnswer, tryQuestions } from "./tried-answer.tsx";
import type { DocumentItem, OneDocument, Question } from "./types.ts";

interface Article {
  readonly document: string;
  readonly title: string;
  readonly content: string;
}

/** The article that the next save changes. */
interface Target {
  readonly id: string;
  readonly version: string;
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
  const blank: Article = { document: "", title: question.slice(0, 200), content: "" };
  const form = useForm(blank);
  const [target, setTarget] = useState<Target>();
  const [isLoading, setLoading] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [q, search] = useState("");
  const { notices, router } = useDashboard();
  /** The number of the last choice or save. What an earlier one brings later is dropped. */
  const step = useRef(0);
  /** This page has marked the question as answered. */
  const isMarked = useRef(false);
  useEffect(() => () => void (step.current += 1), []);
  const [extended, setExtended] = useState<DocumentItem>();
  const found = useResource(() => api.page<DocumentItem>("documents", "documents", { q, limit: 100 }), [q]);
  // The chosen article stays a choice when the words of the search change.
  const articles = [
    ...(extended === undefined ? [] : [extended]),
    ...(found.data?.items ?? []).filter(({ id, editable }) => editable && id !== extended?.id),
  ];

  async function choose(id: string): Promise<void> {
    // The select shows the choice until it is drawn again.
    if (form.isBusy || !router.mayLeave()) return form.field("document").set(form.values.document);
    step.current += 1;
    const own = step.current;
    const chosen = articles.find((each) => each.id === id);
    setOutcome(undefined);
    if (chosen === undefined) {
      setExtended(undefined);
      setTarget(undefined);
      setLoading(false);
      form.setValues(blank);
      // An article that was written here is among them.
      return found.reload();
    }
    setLoading(true);
    try {
      const { content, version } = await contentOf(id);
      if (step.current !== own) return;
      setExtended(chosen);
      setTarget({ id, version });
      form.setValues({ document: id, title: chosen.title, content: `${content.trimEnd()}\n\n## ${question}\n\n` });
    } catch (error) {
      notices.report(error);
    } finally {
      if (step.current === own) setLoading(false);
    }
  }

  async function save({ title, content }: Article): Promise<void> {
    const before = step.current;
    const { document: saved } = await (target === undefined
      ? api.post<OneDocument>("documents/articles", { title, content })
      : api.put<OneDocument>(`documents/articles/${target.id}`, { title, content, based_on: target.version }));
    // Another article was chosen meanwhile.
    if (step.current !== before) return;
    // The next save changes this article.
    setTarget({ id: saved.id, version: saved.content_version });
    step.current += 1;
    void showAnswers(saved, step.current);
  }

  async function showAnswers(saved: DocumentItem, own: number): Promise<void> {
    setOutcome({ kind: "indexing" });
    const tried = await tryAnswer(saved, question).catch((): Outcome => ({ kind: "unknown" }));
    if (step.current !== own) return;
    setOutcome(tried);
    if (tried.kind !== "tried") return;
    if (isAnsweredBy(tried.first, saved.id)) await mark("open", "done", { document_id: saved.id });
    else if (!isAnswered(tried.first) && isMarked.current) await mark("done", "reopen");
    const others = await tryQuestions(
      similar.filter((each) => each !== question),
      saved.audience,
    );
    if (step.current === own) setOutcome({ ...tried, others });
  }

  /** Does nothing in another state: a colleague, or this administrator, may have ignored the question meanwhile. */
  async function mark(from: Question["state"], action: "done" | "reopen", body?: object): Promise<void> {
    try {
      const { state } = await api.get<Question>(path);
      if (state === from) {
        await api.post(`${path}/${action}`, body);
        isMarked.current = action === "done";
      }
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
      <Form form={form} send={save} label="Save and try" done="Article saved." isBlocked={isLoading}>
        <SelectField
          of={{ ...form.field("document"), set: (id) => void choose(id) }}
          label="Article"
          none={form.values.document === "" && target !== undefined ? "The new article" : "A new article"}
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
