import { useState } from "preact/hooks";
import { Button } from "#web/shared/ui/elements.tsx";
import { messageOf } from "#web/shared/ui/notices.ts";
import { api } from "#web/dashboard/api.ts";
import { addressOf } from "#web/dashboard/router.ts";
import { useDashboard } from "#web/dashboard/store.ts";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { RelativeTime } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import { Loaded, ShowMore, usePaged, useResource } from "#web/dashboard/ui/resource.tsx";
import { DataTable } from "#web/dashboard/ui/table.tsx";
import type { Rule, RuleList } from "./rule.ts";
import type { RuleValues } from "./rule-form.tsx";
import { RuleFields } from "./rule-form.tsx";

const newRule: Rule = ruleOf({
  name: "",
  enabled: true,
  when: { message: "customer" },
  conditions: {},
  actions: [],
});
const back = { label: "Automation", href: addressOf("automation") };
const pathOf = (name: string): string => `rules/${encodeURIComponent(name)}`;

/** One rule: its form, a trial on real conversations, and when it fired. */
export function RulePage({ name }: { readonly name: string | undefined }) {
  const list = useResource(() => api.get<RuleList>("rules"), [name]);
  return (
    <>
      <PageHead title={name ?? "New rule"} back={back} />
      <Loaded of={list}>
        {({ rules, managed_by_file: isManaged }) => {
          const rule = name === undefined ? newRule : rules.find((each) => each.name === name);
          if (rule === undefined) return <p>There is no rule of this name.</p>;
          return <RuleEditor key={rule.name} rule={rule} isNew={name === undefined} isManaged={isManaged} />;
        }}
      </Loaded>
      {name !== undefined && <Firings name={name} />}
    </>
  );
}

const valuesOf = ({ name, enabled = true, when, if: checks = {}, then }: Rule): RuleValues => ({
  name,
  enabled,
  when,
  conditions: checks,
  actions: then,
});

/** The rule's own properties, as the API takes them. */
function ruleOf({ name, enabled, when, conditions, actions }: RuleValues): Rule {
  // oxlint-disable-next-line unicorn/no-thenable -- a key of the API.
  return { name, enabled, when, if: conditions, then: actions };
}

function RuleEditor(props: { readonly rule: Rule; readonly isNew: boolean; readonly isManaged: boolean }) {
  const { rule, isNew, isManaged } = props;
  const { router } = useDashboard();
  const form = useForm(valuesOf(rule));
  const send = async (values: RuleValues): Promise<void> => {
    const given = ruleOf(values);
    await (isNew ? api.post("rules", given) : api.patch(pathOf(rule.name), given));
    if (given.name !== rule.name) router.go(addressOf("automation", given.name));
  };
  return (
    <>
      <Form form={form} send={send} label="Save" done="Saved." isManaged={isManaged}>
        <RuleFields form={form} />
      </Form>
      <Trial rule={() => ruleOf({ ...form.values, enabled: true })} />
    </>
  );
}

interface TrialResult {
  readonly conversations: number;
  readonly fired: readonly {
    readonly conversation_id: string;
    readonly at: string;
    readonly because: readonly string[];
    readonly would: readonly string[];
  }[];
  readonly has_more: boolean;
  readonly not_fired: readonly { readonly conversation_id: string; readonly because: string }[];
  readonly is_complete: boolean;
}

function Trial({ rule }: { readonly rule: () => Rule }) {
  const { notices } = useDashboard();
  const [result, setResult] = useState<TrialResult>();
  const [isBusy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    if (document.querySelector<HTMLFormElement>("main form")?.reportValidity() === false) return;
    setBusy(true);
    try {
      setResult(await api.post<TrialResult>("rules/dry-run", { rules: [rule()], days: 30 }));
    } catch (error) {
      notices.problem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Section
      title="Try it"
      lead="Shows what the rule, as it is above, would have done on the conversations of the last 30 days. Nothing is changed."
      actions={
        <Button label="Try on real conversations" kind="secondary" disabled={isBusy} onClick={() => void run()} />
      }
    >
      <div aria-live="polite">{result !== undefined && <TrialView of={result} />}</div>
    </Section>
  );
}

const linkTo = (id: string) => <a href={`/inbox#/all/${id}`}>{id.slice(-8)}</a>;

function TrialView({ of: result }: { readonly of: TrialResult }) {
  const { fired, not_fired: others } = result;
  return (
    <>
      <p>
        It would have fired {fired.length}
        {result.has_more ? " times or more" : fired.length === 1 ? " time" : " times"} in {result.conversations}{" "}
        conversations.
        {!result.is_complete && " Older ones were left out, because it took long."}
      </p>
      <DataTable
        caption="What the rule would have done"
        rows={fired}
        rowKey={({ conversation_id: id, at }) => `${id} ${at}`}
        empty={<></>}
        columns={[
          { header: "Conversation", cell: ({ conversation_id: id }) => linkTo(id) },
          { header: "When", cell: ({ at }) => <RelativeTime at={at} /> },
          { header: "Because", cell: ({ because }) => because.join(", and ") },
          { header: "Would", cell: ({ would }) => would.join("; ") },
        ]}
      />
      {others.length > 0 && (
        <details class="more-fields">
          <summary>Why not on the others?</summary>
          <DataTable
            caption="Conversations on which the rule would not have fired"
            rows={others}
            rowKey={({ conversation_id: id }) => id}
            columns={[
              { header: "Conversation", cell: ({ conversation_id: id }) => linkTo(id) },
              { header: "Why not", cell: ({ because }) => because },
            ]}
          />
        </details>
      )}
    </>
  );
}

interface Firing {
  readonly conversation_id: string | null;
  readonly at: string;
  readonly why: string;
}

function Firings({ name }: { readonly name: string }) {
  const firings = usePaged<Firing>((cursor) => api.page(`${pathOf(name)}/firings`, "firings", { cursor }), [name]);
  return (
    <Section title="Why did it fire?" lead="The last 30 days, newest first.">
      <Loaded of={firings}>
        {(rows) => (
          <DataTable
            caption="Firings of the rule"
            rows={rows}
            rowKey={({ conversation_id: id, at }) => `${id} ${at}`}
            empty={<p class="soft">It has not fired.</p>}
            columns={[
              {
                header: "Conversation",
                cell: ({ conversation_id: id }) => (id === null ? "" : linkTo(id)),
              },
              { header: "When", cell: ({ at }) => <RelativeTime at={at} /> },
              { header: "Why", cell: ({ why }) => why },
            ]}
          />
        )}
      </Loaded>
      <ShowMore of={firings} />
    </Section>
  );
}
