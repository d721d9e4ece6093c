import { Button } from "#web/shared/ui/elements.tsx";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { FormState } from "#web/dashboard/ui/form.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { ArgumentFields } from "./argument-fields.tsx";
import { HeaderFields } from "./header-fields.tsx";
import type { SkillValues } from "./skill.ts";
import { kindOptions, newArgument } from "./skill.ts";

interface FieldsProps {
  readonly form: FormState<SkillValues>;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"].map((value) => ({ value, label: value }));

export function SkillFields({ form }: FieldsProps) {
  const { kind } = form.values;
  return (
    <>
      <TextField
        of={form.field("name")}
        label="Name"
        hint="Lower-case letters, digits and _, such as order_status."
        pattern="[a-z][a-z0-9_]{0,39}"
        maxLength={40}
        mono
        required
      />
      <SwitchField of={form.field("enabled")} label="On" hint="A skill that is paused is not used." />
      <SelectField of={form.field("kind")} label="What it does" options={kindOptions} />
      <TextAreaField
        of={form.field("description")}
        label="Description"
        hint="The language model chooses skills by it."
        rows={2}
        maxLength={500}
        required={kind === "request"}
        optional={kind !== "request"}
      />
      {kind === "request" && (
        <>
          <RequestFields form={form} />
          <ArgumentList of={form.field("arguments")} />
        </>
      )}
      <AnswerFields form={form} />
    </>
  );
}

function RequestFields({ form }: FieldsProps) {
  const isGet = form.values.method === "GET";
  return (
    <Section title="Request" lead="The server answers with JSON.">
      <SelectField of={form.field("method")} label="Method" options={methods} />
      <TextField
        of={form.field("url")}
        label="Address"
        hint="After the host it can have arguments in braces: https://shop.example/api/orders/{order}"
        type="url"
        maxLength={2_000}
        mono
        required
      />
      <HeaderFields of={form.field("headers")} />
      {!isGet && (
        <>
          <TextAreaField
            of={form.field("body")}
            label="Body"
            hint="A JSON object. Its texts can have arguments in braces."
            rows={4}
            mono
            optional
          />
          <SwitchField
            of={form.field("safe")}
            label="It changes nothing"
            hint="Then it may be repeated, and tried below."
          />
        </>
      )}
      <SwitchField
        of={form.field("verified")}
        label="For verified customers only"
        hint="Then the address can have {user.id}, {user.email} and {user.plan}."
      />
      <NumberField
        of={form.field("timeout_seconds")}
        label="Time limit"
        min={0.1}
        max={20}
        step={0.1}
        unit="seconds"
        required
      />
      <NumberField
        of={form.field("bytes_max")}
        label="Largest answer"
        min={100}
        max={1_000_000}
        unit="bytes"
        required
      />
    </Section>
  );
}

function ArgumentList({ of: field }: { readonly of: Field<SkillValues["arguments"]> }) {
  const { value: rows, set, errors } = field;
  return (
    <Section
      title="Arguments"
      lead="What the skill has to know, such as the number of an order."
      actions={<Button label="Add an argument" kind="secondary" onClick={() => set([...rows, newArgument])} />}
    >
      {rows.map((row, at) => (
        <ArgumentFields
          key={at}
          of={{
            name: `arguments.${at}`,
            value: row,
            set: (next) => set(rows.map((each, i) => (i === at ? next : each))),
            errors,
          }}
          remove={() => set(rows.filter((_, i) => i !== at))}
        />
      ))}
    </Section>
  );
}

function AnswerFields({ form }: FieldsProps) {
  const { kind } = form.values;
  const isRequest = kind === "request";
  return (
    <Section title="In the conversation">
      <TextAreaField
        of={form.field("phrases")}
        label="Phrases"
        hint={
          isRequest
            ? "One a line. A message with one of them uses the skill: status of order {order}"
            : "One a line. Empty: those that are built in."
        }
        rows={4}
        optional
      />
      {kind !== "talk_to_human" && (
        <TextAreaField
          of={form.field("answer")}
          label="Answer"
          hint={answerHints[kind] ?? ""}
          rows={2}
          maxLength={2_000}
          optional
        />
      )}
      {kind === "business_hours" && (
        <TextAreaField
          of={form.field("closed")}
          label="Answer while closed"
          hint="It can have {day} and {time}."
          rows={2}
          maxLength={2_000}
          optional
        />
      )}
      {isRequest && (
        <>
          <TextAreaField
            of={form.field("not_found")}
            label="Answer to 404"
            hint="Sent when the server does not know what was asked for."
            rows={2}
            maxLength={2_000}
            optional
          />
          <TagsField
            of={form.field("fields")}
            label="Fields that may be used"
            hint="Paths such as order.status. Without any, all may be."
            maxItems={100}
            optional
          />
        </>
      )}
    </Section>
  );
}

const answerHints: Readonly<Record<string, string>> = {
  request: "Fields of the server's answer in braces: Your order is {status}. Empty: a list of the fields.",
  business_hours: "Sent while open. It can have {time}.",
  capture_lead: "Sent when the address was stored.",
};
