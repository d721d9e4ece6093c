import { Empty } from "#web/shared/ui/elements.tsx";
import { api } from "#web/dashboard/api.ts";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useQuery } from "#web/dashboard/store.ts";
import { FilterBar, FilterSelect } from "#web/dashboard/ui/filters.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Badge, RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead } from "#web/dashboard/ui/page.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import { OneQuestion } from "./question.tsx";
import type { Question } from "./types.ts";
import { reasonNames, reasonOrder, stateNames } from "./types.ts";

export const answersPage: DashboardPage = {
  path: "answers",
  label: "Answers",
  about: "Questions that need a better answer.",
  group: "Knowledge",
  icon: icons.answers,
  roles: ["admin", "viewer"],
  render: (id) => (id === undefined ? <QuestionList /> : <OneQuestion id={id} key={id} />),
};

const dayOptions = [
  { value: "7", label: "Last 7 days" },
  { value: "90", label: "Last 90 days" },
];
const stateOptions = (["done", "ignored"] as const).map((value) => ({ value, label: stateNames[value] }));

function QuestionList() {
  const [days, setDays] = useQuery("days");
  const [state, setState] = useQuery("state");
  const found = useResource(
    () =>
      api.get<{ readonly questions: readonly Question[]; readonly total: number }>("unanswered", {
        days,
        state,
        limit: 100,
      }),
    [days, state],
  );
  return (
    <>
      <PageHead
        title="Answers"
        lead="Questions without a good answer, most frequent first. Questions that ask the same are one entry."
      />
      <FilterBar>
        <FilterSelect label="Time" all="Last 30 days" options={dayOptions} value={days} set={setDays} />
        <FilterSelect label="State" all="Open" options={stateOptions} value={state} set={setState} />
      </FilterBar>
      <Loaded of={found}>
        {({ questions, total }) => (
          <>
            <DataTable
              caption="Questions, most frequent first"
              columns={[
                {
                  header: "Question",
                  cell: ({ id, question }) => (
                    <a class="question-link" dir="auto" href={addressOf(answersPage.path, id)}>
                      {question}
                    </a>
                  ),
                },
                { header: "Asked", cell: ({ count }) => count, align: "end" },
                { header: "Reasons", cell: (row) => <Reasons of={row} /> },
                { header: "Last asked", cell: ({ last_asked_at: at }) => <RelativeTime at={at} /> },
              ]}
              rows={questions}
              rowKey={({ id }) => id}
              empty={
                <Empty shape="check" title="No question here">
                  <p>
                    {state === "" ? "Every question of this time got a good answer." : "No question is in this state."}
                  </p>
                </Empty>
              }
            />
            {total > questions.length && (
              <p class="hint">
                The {questions.length} most frequent of {total}.
              </p>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

/** How often each reason occurred. */
const Reasons = ({ of: { reasons } }: { readonly of: Pick<Question, "reasons"> }) => (
  <span class="badges">
    {reasonOrder
      .filter((reason) => reasons[reason] > 0)
      .map((reason) => (
        <Badge key={reason} tone={reason === "unsure" ? "wait" : "bad"}>
          {reasonNames[reason]}: {reasons[reason]}
        </Badge>
      ))}
  </span>
);
