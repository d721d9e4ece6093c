import { Button } from "#web/shared/ui/elements.tsx";
import { SelectField, SwitchField } from "#web/dashboard/ui/fields/choice.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { memberOf } from "#web/dashboard/ui/fields/field.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import { Card } from "#web/dashboard/ui/page.tsx";
import type { ArgumentRow } from "./skill.ts";

const types = [
  { value: "string", label: "Text" },
  { value: "integer", label: "Whole number" },
  { value: "number", label: "Number" },
  { value: "boolean", label: "Yes or no" },
];

/** One argument of a skill. */
export function ArgumentFields({
  of: field,
  remove,
}: {
  readonly of: Field<ArgumentRow>;
  readonly remove: () => void;
}) {
  const { name, type } = field.value;
  return (
    <Card title={name === "" ? "New argument" : name}>
      <TextField
        of={memberOf(field, "name")}
        label="Name"
        hint="As in the braces."
        pattern="[a-z][a-z0-9_]{0,39}"
        maxLength={40}
        mono
        required
      />
      <TextAreaField of={memberOf(field, "description")} label="Description" rows={2} maxLength={300} required />
      <SelectField of={memberOf(field, "type")} label="Type" options={types} />
      {type === "string" && <TextLimits of={field} />}
      {(type === "integer" || type === "number") && (
        <>
          <NumberField of={memberOf(field, "minimum")} label="Least" optional />
          <NumberField of={memberOf(field, "maximum")} label="Most" optional />
        </>
      )}
      <SwitchField of={memberOf(field, "optional")} label="The skill works without it" />
      <TextField
        of={memberOf(field, "ask")}
        label="Question"
        hint="Asked when the message does not have it."
        maxLength={300}
        optional
      />
      <div>
        <Button label="Remove" kind="plain" aria-label={`Remove the argument ${name}`} onClick={remove} />
      </div>
    </Card>
  );
}

const TextLimits = ({ of: field }: { readonly of: Field<ArgumentRow> }) => (
  <>
    <TagsField
      of={memberOf(field, "shape")}
      label="Shapes"
      hint="# is a digit, @ a letter, * either, + behind one of them for one or more: BK-######"
      maxLength={60}
      optional
    />
    <TagsField of={memberOf(field, "choices")} label="Choices" maxLength={100} maxItems={100} optional />
    <NumberField
      of={memberOf(field, "max_length")}
      label="Longest"
      min={1}
      max={500}
      unit="characters"
      placeholder="100"
      optional
    />
  </>
);
