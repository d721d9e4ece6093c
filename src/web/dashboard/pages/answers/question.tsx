import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useCanWrite, useDashboard } from "#web/dashboard/store.ts";
import { Badge, Callout, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { QuestionWithExamples } from "./types.ts";
import { reasonNames, stateNames } from "./types.ts";
import { WriteAnswer } from "./write-answer.tsx";

/** One question: when it was asked, and the article that answers it. */
export function OneQuestion({ id }: { readonly id: string }) {
  const path = `unanswered/${encodeURIComponent(id)}`;
  const found = useResource(() => api.get<QuestionWithExamples>(path, { days: 90 }), [id]);
  const canWrite = useCanWrite();
  return (
    <>
      <PageHead
        title={found.data?.question ?? "Question"}
        back={{ label: "Answers", href: addressOf("answers") }}
        {...(canWrite && found.data !== undefined
          ? { actions: <StateButtons path={path} state={found.data.state} changed={found.reload} /> }
          : {})}
      />
      <Loaded of={found}>
        {(question) => (
          <>
            <State of={question} />
            <Asked examples={question.examples} />
            {canWrite && (
              <Section
                title="Write the answer"
                lead="The article is part of the documents. The bot uses it as soon as it is saved and indexed."
              >
                <WriteAnswer
                  question={question.question}
                  similar={question.examples.map((example) => example.question)}
                  path={path}
                  isOpen={question.state === "open"}
                  answered={found.reload}
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function StateButtons(props: {
  readonly path: string;
  readonly state: QuestionWithExamples["state"];
  readonly changed: () => Promise<void>;
}) {
  const { path, state, changed } = props;
  const { notices } = useDashboard();
  const [isBusy, setBusy] = useState(false);
  const change = async (action: "done" | "ignore" | "reopen", said: string): Promise<void> => {
    setBusy(true);
    try {
      await api.post(`${path}/${action}`);
      await changed();
      notices.done(said);
    } catch (error) {
      notices.problem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  const button = (label: string, action: "done" | "ignore" | "reopen", said: string) => (
    <Button label={label} kind="secondary" disabled={isBusy} onClick={() => void change(action, said)} />
  );
  if (state !== "open") return button("Open again", "reopen", "Question opened.");
  return (
    <>
      {button("Ignore", "ignore", "Question ignored.")}
      {button("Mark as answered", "done", "Question marked as answered.")}
    </>
  );
}

function State({ of: { state, document } }: { readonly of: QuestionWithExamples }) {
  return (
    <div class="row-actions">
      <Badge tone={state === "open" ? "wait" : state === "done" ? "good" : "neutral"}>{stateNames[state]}</Badge>
      {document !== null && (
        <span>
          {state === "open" ? "Asked again since it was answered in " : "Answered in "}
          <a href={addressOf("documents", document.id)}>{document.title}</a>.
        </span>
      )}
      {state === "open" && document !== null && (
        <Callout tone="wait">The document does not answer all of these questions.</Callout>
      )}
    </div>
  );
}

const Asked = ({ examples }: { readonly examples: QuestionWithExamples["examples"] }) => (
  <Section title="Asked" lead="The newest questions, at most 20.">
    <DataTable
      caption="When the question was asked"
      columns={[
        {
          header: "Question",
          cell: ({ question, conversation_id: conversation }) => (
            <a dir="auto" href={`/inbox#/all/${conversation}`}>
              {question}
            </a>
          ),
        },
        { header: "Why", cell: ({ reasons }) => reasons.map((reason) => reasonNames[reason]).join(", ") },
        { header: "Channel", cell: ({ channel }) => channel },
        { header: "Time", cell: ({ asked_at: at }) => <RelativeTime at={at} /> },
      ]}
      rows={examples}
      rowKey={({ message_id: id }) => id}
    />
  </Section>
);
