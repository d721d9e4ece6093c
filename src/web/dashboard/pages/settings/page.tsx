import { planRetentionDays, plans } from "#domain/workspace/plans.ts";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import { ProgressBar } from "#web/dashboard/ui/marks.tsx";
import { PageHead, Section } from "#web/dashboard/ui/page.tsx";
import type { JSX } from "preact";
import type { Resource } from "#web/dashboard/ui/resource.tsx";
import { Loaded, useResource } from "#web/dashboard/ui/resource.tsx";
import { Tabs } from "#web/dashboard/ui/tabs.tsx";
import type { DashboardPage } from "#web/dashboard/page.ts";
import { useDashboard, useQuery } from "#web/dashboard/store.ts";
import type { AudienceRow, Audiences } from "./parts/audiences.tsx";
import { AudienceFields, audiencesOf, rowsOf } from "./parts/audiences.tsx";
import type { Hours, Targets } from "./parts/hours.tsx";
import { IdentitySecret } from "./parts/identity-secret.tsx";
import { HoursFields, TargetFields } from "./parts/hours.tsx";
import type { Translations } from "./parts/translations.tsx";
import { TranslationFields } from "./parts/translations.tsx";
import { Managed, SettingsForm, fieldOf } from "./setting-fields.tsx";
import type { SettingsList } from "./settings-api.ts";
import { loadSettings, loadTexts, savePlan, saveSettings } from "./settings-api.ts";
import {
  closingSpecs,
  escalationSpecs,
  generalSpecs,
  limitSpecs,
  modelSpecs,
  retentionSpecs,
  textSpecs,
} from "./specs.ts";

export const settingsPage: DashboardPage = {
  path: "settings",
  label: "Settings",
  about: "The bot, its texts, hours, limits and retention.",
  group: "Workspace",
  icon: "settings",
  roles: ["admin", "viewer"],
  render: () => <SettingsPage />,
};

interface PartProps {
  readonly list: SettingsList;
  readonly changed: (list: SettingsList) => void;
}

function SettingsPage() {
  const resource = useResource(loadSettings, []);
  const [tab, setTab] = useQuery("tab");
  const { mayLeave } = useDashboard().router;
  const part = (Part: (props: PartProps) => JSX.Element) => () => <Shown of={resource} part={Part} />;
  return (
    <>
      <PageHead title="Settings" lead="Changes are live within a second." />
      <Tabs
        label="Settings"
        current={tab}
        choose={(id) => mayLeave() && setTab(id)}
        tabs={[
          { id: "general", label: "General", render: part(General) },
          { id: "texts", label: "Bot & texts", render: part(Texts) },
          { id: "escalation", label: "Escalation", render: part(Escalation) },
          { id: "hours", label: "Hours & SLA", render: part(HoursAndSla) },
          { id: "limits", label: "Retention & limits", render: part(Limits) },
          { id: "audiences", label: "Audiences", render: part(AudiencesPart) },
        ]}
      />
    </>
  );
}

/** Loads the settings for a part of the page. */
function Shown(props: { readonly of: Resource<SettingsList>; readonly part: (props: PartProps) => JSX.Element }) {
  const { of: resource, part: Part } = props;
  return <Loaded of={resource}>{(list) => <Part list={list} changed={resource.set} />}</Loaded>;
}

const General = (props: PartProps) => (
  <>
    <SettingsForm {...props} specs={generalSpecs} />
    <IdentitySecret />
  </>
);
const Escalation = (props: PartProps) => <SettingsForm {...props} specs={escalationSpecs} />;

const isManaged = (list: SettingsList, key: string): boolean => list.settings[key]?.managed_by_file === true;

function Texts(props: PartProps) {
  const texts = useResource(loadTexts, []);
  return (
    <>
      <Section title="In every language" lead="They apply where a language has no sentence of its own.">
        <SettingsForm {...props} specs={textSpecs} />
      </Section>
      <Section title="By language">
        <Loaded of={texts}>
          {({ texts: builtIn }) => (
            <SettingsForm {...props} specs={[]} more={["messages.translations"]}>
              {(form) => (
                <Managed is={isManaged(props.list, "messages.translations")}>
                  <TranslationFields of={fieldOf<Translations>(form, "messages.translations")} builtIn={builtIn} />
                </Managed>
              )}
            </SettingsForm>
          )}
        </Loaded>
      </Section>
    </>
  );
}

function HoursAndSla(props: PartProps) {
  return (
    <>
      <Section title="Business hours">
        <SettingsForm {...props} specs={[]} more={["business_hours"]}>
          {(form) => (
            <Managed is={isManaged(props.list, "business_hours")}>
              <HoursFields of={fieldOf<Hours | null>(form, "business_hours")} />
            </Managed>
          )}
        </SettingsForm>
      </Section>
      <Section title="Reply times" lead="A conversation that waits longer breaches its SLA.">
        <SettingsForm {...props} specs={[]} more={["sla"]}>
          {(form) => (
            <Managed is={isManaged(props.list, "sla")}>
              <TargetFields of={fieldOf<Targets>(form, "sla")} />
            </Managed>
          )}
        </SettingsForm>
      </Section>
      <Section title="Idle conversations">
        <SettingsForm {...props} specs={closingSpecs} />
      </Section>
    </>
  );
}

function Limits(props: PartProps) {
  const { plan } = props.list;
  const allowed = `The plan ${plan.name} keeps conversations for up to ${plan.retention_days} days.`;
  return (
    <>
      <Section title="Plan" lead="It decides limits, retention and features.">
        <PlanForm {...props} />
      </Section>
      <Section title="Retention" lead={allowed}>
        <SettingsForm {...props} specs={retentionSpecs} />
      </Section>
      <Section title="Limits" lead={`The plan allows ${plan.limit_minute} requests of a key a minute.`}>
        <SettingsForm {...props} specs={limitSpecs} />
      </Section>
      <Section title="Language model" lead="What it may use in a month.">
        <ModelUse list={props.list} />
        <SettingsForm {...props} specs={modelSpecs} />
      </Section>
    </>
  );
}

function ModelUse({ list }: { readonly list: SettingsList }) {
  const used = list.model_tokens_this_month;
  const max = list.settings["model_tokens_per_month"]?.value;
  if (typeof max !== "number") return <p>{used.toLocaleString()} tokens were used this month.</p>;
  const isSpent = used >= max;
  const told = `${used.toLocaleString()} of ${max.toLocaleString()} tokens were used this month.`;
  return (
    <>
      <p>{isSpent ? `${told} Answers are the documents' own sentences until the next month.` : told}</p>
      <ProgressBar label="Tokens used this month" share={used / max} />
    </>
  );
}

function PlanForm({ list, changed }: PartProps) {
  const form = useForm({ plan: list.plan.name, isAgreed: false });
  const days = planRetentionDays[plans.find((each) => each === form.values.plan) ?? "free"];
  const ownDays = list.settings["retention_days"]?.value;
  const isShorter = days < (typeof ownDays === "number" ? ownDays : list.plan.retention_days);
  return (
    <Form
      form={form}
      send={async ({ plan }) => changed(await savePlan(plan))}
      label="Change the plan"
      done="Saved."
      isManaged={list.plan.managed_by_file}
      isBlocked={isShorter && !form.values.isAgreed}
    >
      <SelectField of={form.field("plan")} label="Plan" options={plans.map((value) => ({ value, label: value }))} />
      {isShorter && (
        <SwitchField
          of={form.field("isAgreed")}
          label={`Delete conversations that ended more than ${days} days ago`}
          hint="This plan keeps them no longer. They are deleted for good."
        />
      )}
    </Form>
  );
}

function AudiencesPart({ list, changed }: PartProps) {
  const before = (list.settings["audiences"]?.value ?? {}) as Audiences;
  const form = useForm<{ readonly rows: readonly AudienceRow[] }>({ rows: rowsOf(before) });
  return (
    <Form
      form={form}
      send={async ({ rows }) => changed(await saveSettings(list, { audiences: audiencesOf(rows, before) }))}
      label="Save"
      done="Saved."
      isManaged={isManaged(list, "audiences")}
    >
      <p class="hint">Documents with a tag are shown to signed-in customers whose attributes fit.</p>
      <AudienceFields of={form.field("rows")} />
    </Form>
  );
}
