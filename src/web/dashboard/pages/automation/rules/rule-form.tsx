import { Button } from "#web/shared/ui/elements.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Section } from "#web/dashboard/ui/page.tsx";
import { PartField } from "./part-field.tsx";
import type { Part, Parts } from "./rule.ts";
import { actions, conditions, emptyValue, since, triggers } from "./rule.ts";

export interface RuleValues {
  readonly name: string;
  readonly enabled: boolean;
  readonly when: Parts;
  readonly conditions: Parts;
  readonly actions: readonly Parts[];
}

const options = (parts: readonly Part[]) => parts.map(({ key, label }) => ({ value: key, label }));

/** The field of a part within an object. */
const within = (field: Field<Parts>, key: string): Field<unknown> => ({
  name: `${field.name}.${key}`,
  value: field.value[key],
  set: (value) => field.set({ ...field.value, [key]: value }),
  errors: field.errors,
});

interface RuleForm {
  readonly field: <K extends keyof RuleValues>(name: K) => Field<RuleValues[K]>;
}

/** A rule in words that are chosen. */
export function RuleFields({ form }: { readonly form: RuleForm }) {
  return (
    <>
      <TextField of={form.field("name")} label="Name" maxLength={100} required />
      <SwitchField of={form.field("enabled")} label="On" hint="A rule that is off does nothing." />
      <Section title="When">
        <TriggerFields of={form.field("when")} />
      </Section>
      <Section title="If">
        <ConditionFields of={form.field("conditions")} />
      </Section>
      <Section title="Then">
        <ActionFields of={form.field("actions")} parts={actions} />
      </Section>
    </>
  );
}

/** Labels of the value below the kind of trigger, which its own label names already. */
const triggerLabels: Readonly<Record<string, string>> = {
  message: "From",
  status: "New status",
  tagged: "Tag",
  untagged: "Tag",
  sla: "New state",
  minutes: "Minutes",
};

function TriggerFields({ of: field }: { readonly of: Field<Parts> }) {
  const trigger = triggers.find(({ key }) => field.value[key] !== undefined);
  const choose = (key: string): void => {
    const next = triggers.find((each) => each.key === key);
    if (next !== undefined) field.set({ [key]: emptyValue(next) });
  };
  return (
    <>
      <SelectField
        of={{ name: "when", value: trigger?.key ?? "", set: choose, errors: field.errors }}
        label="What happens"
        options={options(triggers)}
      />
      {trigger !== undefined && (
        <PartField
          part={{ ...trigger, label: triggerLabels[trigger.key] ?? trigger.label }}
          of={within(field, trigger.key)}
        />
      )}
      {trigger?.key === "minutes" && <PartField part={since} of={within(field, "since")} />}
    </>
  );
}

function ConditionFields({ of: field }: { readonly of: Field<Parts> }) {
  const used = conditions.filter(({ key }) => field.value[key] !== undefined);
  const free = conditions.filter(({ key }) => field.value[key] === undefined);
  const remove = (key: string): void => {
    const { [key]: _, ...rest } = field.value;
    field.set(rest);
  };
  const add = (key: string): void => {
    const part = conditions.find((each) => each.key === key);
    if (part !== undefined) field.set({ ...field.value, [key]: emptyValue(part) });
  };
  return (
    <>
      {used.map((part) => (
        <div key={part.key} class="rule-part">
          <PartField part={part} of={within(field, part.key)} />
          <Button
            label={`Remove the condition: ${part.label}`}
            kind="icon"
            shape={icons.trash}
            onClick={() => remove(part.key)}
          />
        </div>
      ))}
      <SelectField
        of={{ name: "condition", value: "", set: add, errors: {} }}
        label="Add a condition"
        hint="All conditions must hold."
        none="Choose…"
        options={options(free)}
      />
    </>
  );
}

/** Actions in their order; each is one of the parts. */
export function ActionFields(props: { readonly of: Field<readonly Parts[]>; readonly parts: readonly Part[] }) {
  const { of: field, parts } = props;
  const setAt = (at: number, action: Parts): void =>
    field.set(field.value.map((each, i) => (i === at ? action : each)));
  const add = (key: string): void => {
    const part = parts.find((each) => each.key === key);
    if (part !== undefined) field.set([...field.value, { [key]: emptyValue(part) }]);
  };
  return (
    <>
      {field.value.map((action, at) => {
        const part = parts.find(({ key }) => action[key] !== undefined);
        if (part === undefined) return null;
        const own: Field<Parts> = {
          name: `${field.name}.${at}`,
          value: action,
          set: (next) => setAt(at, next),
          errors: field.errors,
        };
        return (
          <div key={at} class="rule-part">
            <PartField part={part} of={within(own, part.key)} />
            <Button
              label={`Remove the action: ${part.label}`}
              kind="icon"
              shape={icons.trash}
              onClick={() => field.set(field.value.filter((_, i) => i !== at))}
            />
          </div>
        );
      })}
      <SelectField
        of={{ name: field.name, value: "", set: add, errors: field.errors }}
        label="Add an action"
        hint="Actions run in this order."
        none="Choose…"
        options={options(parts)}
      />
    </>
  );
}
