import { api } from "#web/dashboard/api.ts";
import { Callout } from "#web/dashboard/ui/marks.tsx";
import type { DocumentItem, OneDocument } from "./types.ts";

/** A page waits this long for the article to be indexed. */
const indexTriesMax = 60;
const indexWaitMs = 1_000;
/** Other questions of a group that are tried. */
const othersMax = 4;
const questionMax = 4_000;

interface TriedQuestion {
  readonly question: string;
  readonly replies: readonly string[];
  readonly confidence: string | null;
  readonly decision: { readonly kind: string; readonly text: string };
  readonly passages: readonly { readonly document_id: string; readonly used: boolean }[];
}

export type Outcome =
  | { readonly kind: "indexing" | "unknown" }
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "tried"; readonly first: TriedQuestion; readonly others: readonly TriedQuestion[] };

/** Waits until the document is indexed, and asks the bot. */
export async function tryAnswer({ id, audience }: DocumentItem, question: string): Promise<Outcome> {
  const indexed = await indexedDocument(id);
  if (indexed === undefined) return { kind: "unknown" };
  if (indexed.status === "failed") return { kind: "failed", error: indexed.error ?? "" };
  return { kind: "tried", first: await ask(question, audience), others: [] };
}

/** Asks the bot a few other questions of the group. Those that could not be asked are left out. */
export async function tryQuestions(
  questions: readonly string[],
  audience: readonly string[],
): Promise<readonly TriedQuestion[]> {
  const tried: TriedQuestion[] = [];
  for (const question of [...new Set(questions)].filter((each) => each.trim() !== "").slice(0, othersMax)) {
    const result = await ask(question, audience).catch(() => undefined);
    if (result !== undefined) tried.push(result);
  }
  return tried;
}

/** `audience`: tags of documents that the customer may see. */
async function ask(question: string, audience: readonly string[]): Promise<TriedQuestion> {
  const result = await api.post<Omit<TriedQuestion, "question">>("questions/try", {
    question: question.slice(0, questionMax),
    ...(audience.length === 0 ? {} : { audience }),
  });
  return { question, ...result };
}

async function indexedDocument(id: string): Promise<DocumentItem | undefined> {
  for (let tries = 0; tries < indexTriesMax; tries += 1) {
    const { document } = await api.get<OneDocument>(`documents/${id}`);
    if (document.status === "failed" || document.status === "indexed") return document;
    await new Promise((resolve) => setTimeout(resolve, indexWaitMs));
  }
  return undefined;
}

/** Whether the bot answers the question from documents, and is sure enough of it. */
export const isAnswered = ({ decision, confidence }: TriedQuestion): boolean =>
  decision.kind === "answer" && confidence !== "low";

/** Whether it answers from this document. */
export const isAnsweredBy = (tried: TriedQuestion, documentId: string): boolean =>
  isAnswered(tried) && tried.passages.some(({ document_id: id, used }) => used && id === documentId);

/** `isOpen`: the question is in the list of those that need an answer. */
export function TriedAnswer({ of: outcome, isOpen }: { readonly of: Outcome; readonly isOpen: boolean }) {
  switch (outcome.kind) {
    case "indexing":
      return <Callout tone="wait">The article is being indexed. Stay here to see how the bot answers.</Callout>;
    case "unknown":
      return <Callout tone="wait">The article is saved. Its answer could not be tried yet.</Callout>;
    case "failed":
      return <Callout tone="bad">The article could not be indexed: {outcome.error}</Callout>;
    case "tried":
      return <Tried first={outcome.first} others={outcome.others} isOpen={isOpen} />;
  }
}

function Tried(props: {
  readonly first: TriedQuestion;
  readonly others: readonly TriedQuestion[];
  readonly isOpen: boolean;
}) {
  const { first, others, isOpen } = props;
  const { confidence, decision, replies } = first;
  const sureness = confidence === null ? "" : `, with ${confidence} confidence`;
  return (
    <Callout tone={isAnswered(first) ? "good" : "wait"}>
      <p>
        <b>
          {isAnswered(first)
            ? `The bot answers now${sureness}:`
            : `The bot does not answer it yet${isOpen ? ", and the question stays open" : ""}. It says:`}
        </b>
      </p>
      {replies.map((reply, at) => (
        <p key={at} dir="auto" class="tried-reply">
          {reply}
        </p>
      ))}
      <p class="soft">{decision.text}</p>
      {others.length > 0 && (
        <ul>
          {others.map((each) => (
            <li key={each.question}>
              {isAnswered(each) ? "Answered" : "Not answered yet"}: <bdi>{each.question}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Callout>
  );
}
