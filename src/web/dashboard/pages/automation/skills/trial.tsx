import { useState } from "preact/hooks";
import { api } from "#web/dashboard/api.ts";
import { SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { NumberField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Form, useForm } from "#web/dashboard/ui/form.tsx";
import type { Tone } from "#web/dashboard/ui/marks.tsx";
import { Badge, Callout } from "#web/dashboard/ui/marks.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import type { ArgumentRow, SkillValues } from "./skill.ts";
import { skillOf } from "./skill.ts";

type Samples = Readonly<Record<string, string | number | boolean | null>>;

interface Trial {
  readonly outcome: "found" | "not_found" | "failed";
  readonly reason: string | null;
  readonly answer: string | null;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  } | null;
  readonly body: string | null;
}

const userFields = [
  { key: "user.id", label: "The customer's id" },
  { key: "user.email", label: "The customer's e-mail address" },
  { key: "user.plan", label: "The customer's plan" },
] as const;

/** Calls the server with sample values, with the skill as it is in the form. */
export function SkillTrial({ values }: { readonly values: SkillValues }) {
  const form = useForm<Samples>({});
  const [trial, setTrial] = useState<Trial>();
  const isSafe = values.method === "GET" || values.safe;
  const send = async (samples: Samples): Promise<void> =>
    setTrial(await api.post<Trial>("skills/test", { skill: skillOf(values), ...trialOf(values, samples) }));
  if (!isSafe) {
    return (
      <Section title="Try it">
        <Callout>
          <p>This skill changes something, so it is called in conversations only.</p>
        </Callout>
      </Section>
    );
  }
  return (
    <Section title="Try it" lead="Calls the server with these values. Nothing is saved.">
      <Form form={form} send={send} label="Try">
        {values.arguments.map((row, at) => (
          <SampleField key={at} row={row} form={form} />
        ))}
        {values.verified &&
          userFields.map(({ key, label }) => (
            <TextField
              key={key}
              of={{ ...form.field(key), value: String(form.values[key] ?? "") }}
              label={label}
              required={key === "user.id"}
              optional={key !== "user.id"}
            />
          ))}
      </Form>
      <div aria-live="polite">{trial !== undefined && <Result of={trial} />}</div>
    </Section>
  );
}

function SampleField(props: { readonly row: ArgumentRow; readonly form: ReturnType<typeof useForm<Samples>> }) {
  const { name, type, optional, shape } = props.row;
  const field = props.form.field(name);
  const label = name === "" ? "Argument" : name;
  if (type === "boolean") {
    return <SwitchField of={{ ...field, value: field.value === true }} label={label} />;
  }
  if (type === "integer" || type === "number") {
    const value = typeof field.value === "number" ? field.value : null;
    const step = type === "integer" ? 1 : 0.01;
    return <NumberField of={{ ...field, value }} label={label} step={step} required={!optional} optional={optional} />;
  }
  const value = String(field.value ?? "");
  const placeholder = shape[0] ?? "";
  return <TextField of={{ ...field, value }} label={label} placeholder={placeholder} required={!optional} />;
}

function trialOf(values: SkillValues, samples: Samples): object {
  const given = values.arguments.flatMap(({ name, type }) => {
    const sample = samples[name] ?? (type === "boolean" ? false : "");
    return sample === "" ? [] : [[name, sample] as const];
  });
  const text = (key: string): string => String(samples[key] ?? "");
  const user = {
    id: text("user.id"),
    ...(text("user.email") !== "" && { email: text("user.email") }),
    ...(text("user.plan") !== "" && { plan: text("user.plan") }),
  };
  return { values: Object.fromEntries(given), ...(values.verified && { user }) };
}

const outcomes: Readonly<Record<Trial["outcome"], readonly [Tone, string]>> = {
  found: ["good", "Answered"],
  not_found: ["wait", "Not found"],
  failed: ["bad", "Failed"],
};

function Result({ of: { outcome, reason, answer, request, body } }: { readonly of: Trial }) {
  const [tone, label] = outcomes[outcome];
  return (
    <div class="stack">
      <p>
        <Badge tone={tone}>{label}</Badge> {reason}
      </p>
      {answer !== null && (
        <p>
          <strong>The customer reads: </strong>
          <span dir="auto">{answer}</span>
        </p>
      )}
      {request !== null && <Text title="Request sent" text={requestText(request)} />}
      {body !== null && <Text title="Response" text={pretty(body)} />}
    </div>
  );
}

const Text = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <section aria-label={title}>
    <h3>{title}</h3>
    <pre class="code" dir="ltr" tabIndex={0}>
      {text}
    </pre>
  </section>
);

const requestText = ({ method, url, headers, body }: NonNullable<Trial["request"]>): string =>
  [
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === null ? [] : ["", pretty(body)]),
  ].join("\n");

/** A text that was cut off is shown as it is. */
function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
